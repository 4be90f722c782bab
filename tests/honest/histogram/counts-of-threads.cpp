// /// kernelwright
// strategy = "every thread counts for itself on cache lines of its own; the counts are added bin by bin"
// ///
#include <omp.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace {
struct alignas(64) Counts {
  int32_t of[256];
};
}  // namespace

extern "C" int histogram(const int32_t* x, int32_t* counts, int64_t N) {
  std::vector<Counts> all(omp_get_max_threads());
#pragma omp parallel
  {
    Counts& mine = all[omp_get_thread_num()];
    std::memset(&mine, 0, sizeof mine);
#pragma omp for
    for (int64_t i = 0; i < N; ++i) ++mine.of[x[i]];
#pragma omp for
    for (int bin = 0; bin < 256; ++bin) {
      int32_t sum = 0;
      for (int t = 0; t < omp_get_num_threads(); ++t) sum += all[t].of[bin];
      counts[bin] = sum;
    }
  }
  return 0;
}
