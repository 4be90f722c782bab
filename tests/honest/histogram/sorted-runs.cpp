// /// kernelwright
// strategy = "bytes of a stretch are sorted in scratch and the runs measured; slow, and right"
// ///
#include <algorithm>
#include <cstdint>
#include <vector>

extern "C" int histogram(const int32_t* x, int32_t* counts, int64_t N) {
  constexpr int64_t STRETCH = 1 << 14;
  std::fill(counts, counts + 256, 0);
#pragma omp parallel for
  for (int64_t from = 0; from < N; from += STRETCH) {
    std::vector<uint8_t> bytes(x + from, x + std::min(N, from + STRETCH));
    std::sort(bytes.begin(), bytes.end());
    for (auto run = bytes.begin(); run != bytes.end();) {
      const auto end = std::upper_bound(run, bytes.end(), *run);
#pragma omp atomic
      counts[*run] += static_cast<int32_t>(end - run);
      run = end;
    }
  }
  return 0;
}
