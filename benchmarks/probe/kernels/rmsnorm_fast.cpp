#include <cmath>
#include <cstdint>
extern "C" int rmsnorm(const float* x, const float* w, float* y, float eps, int64_t rows, int64_t n) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * n;
    float* out = y + i * n;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < n; ++j) sum += in[j] * in[j];
    float scale = 1.0f / std::sqrt(sum / n + eps);
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) out[j] = in[j] * scale * w[j];
  }
  return 0;
}
