// /// kernelwright
// strategy = "sixteen sums a row"
// ///
#include <cmath>
#include <cstdint>

extern "C" int row_energy(const float* x, float* out) {
  constexpr int64_t M = 128, N = 8192, WIDTH = 16;
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    float sums[WIDTH] = {};
    for (int64_t j = 0; j < N; j += WIDTH)
#pragma omp simd
      for (int64_t k = 0; k < WIDTH; ++k) sums[k] += x[i * N + j + k] * x[i * N + j + k];
    float total = 0;
    for (float sum : sums) total += sum;
    out[i] = std::sqrt(total / N);
  }
  return 0;
}
