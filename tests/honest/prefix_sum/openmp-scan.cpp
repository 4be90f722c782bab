// /// kernelwright
// strategy = "the scan directive of OpenMP, a row at a time"
// ///
#include <cstdint>

extern "C" int prefix_sum(const int32_t* x, int64_t* y, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    const int32_t* in = x + i * N;
    int64_t* out = y + i * N;
    int64_t sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
    for (int64_t j = 0; j < N; ++j) {
      sum += in[j];
#pragma omp scan inclusive(sum)
      out[j] = sum;
    }
  }
  return 0;
}
