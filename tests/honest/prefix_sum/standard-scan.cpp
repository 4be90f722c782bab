// /// kernelwright
// strategy = "std::inclusive_scan on rows, rows on threads where there are several"
// ///
#include <cstdint>
#include <functional>
#include <numeric>

extern "C" int prefix_sum(const int32_t* x, int64_t* y, int64_t M, int64_t N) {
#pragma omp parallel for if (M > 1)
  for (int64_t i = 0; i < M; ++i)
    std::inclusive_scan(x + i * N, x + (i + 1) * N, y + i * N, std::plus<int64_t>(), int64_t{0});
  return 0;
}
