// /// kernelwright
// strategy = "weights are turned into a vector on every call, so that the inner loop runs along outputs"
// ///
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" int linear_relu_div(const float* x, const float* weight, const float* bias, float* y, float divisor,
                               int64_t M, int64_t N, int64_t K) {
  std::vector<float> turned(N * K);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int64_t j = 0; j < N; ++j)
      for (int64_t k = 0; k < K; ++k) turned[k * N + j] = weight[j * K + k];
#pragma omp for schedule(static)
    for (int64_t i = 0; i < M; ++i) {
      float* __restrict out = y + i * N;
      for (int64_t j = 0; j < N; ++j) out[j] = 0.0f;
      for (int64_t k = 0; k < K; ++k) {
        const float factor = x[i * K + k];
        for (int64_t j = 0; j < N; ++j) out[j] += factor * turned[k * N + j];
      }
      for (int64_t j = 0; j < N; ++j) {
        const float v = out[j] + bias[j];
        out[j] = (v < 0.0f ? 0.0f : v) / divisor;  // NaN is not below zero and stays
      }
    }
  }
  return 0;
}
