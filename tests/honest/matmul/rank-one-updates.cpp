// /// kernelwright
// strategy = "outer products: a strip of the result stays in cache while one column times one row after the other is added"
// ///
#include <cstdint>
#include <memory>

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  constexpr int64_t ROWS = 48;
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t i0 = 0; i0 < M; i0 += ROWS) {
    const int64_t rows = M - i0 < ROWS ? M - i0 : ROWS;
    const std::unique_ptr<float[]> strip(new float[rows * N + 1]());
    for (int64_t k = 0; k < K; ++k) {
      const float* __restrict row = b + k * N;
      for (int64_t i = 0; i < rows; ++i) {
        const float factor = a[(i0 + i) * K + k];
        float* __restrict sums = strip.get() + i * N;
        for (int64_t j = 0; j < N; ++j) sums[j] += factor * row[j];
      }
    }
    for (int64_t at = 0; at < rows * N; ++at) c[i0 * N + at] = strip[at];
  }
  return 0;
}
