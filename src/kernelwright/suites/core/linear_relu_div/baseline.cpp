// A plain dot product for each output element, then bias, ReLU and division.
#include <cmath>
#include <cstdint>

extern "C" int linear_relu_div(const float* x, const float* weight, const float* bias, float* y, float divisor,
                               int64_t M, int64_t N, int64_t K) {
#pragma omp parallel for collapse(2)
  for (int64_t i = 0; i < M; ++i)
    for (int64_t j = 0; j < N; ++j) {
      float sum = 0.0f;
      for (int64_t k = 0; k < K; ++k) sum += x[i * K + k] * weight[j * K + k];
      const float hidden = sum + bias[j];
      y[i * N + j] = (hidden > 0.0f || std::isnan(hidden) ? hidden : 0.0f) / divisor;
    }
  return 0;
}
