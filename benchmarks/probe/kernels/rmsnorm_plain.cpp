#include <cmath>
#include <cstdint>
extern "C" int rmsnorm(const float* x, const float* w, float* y, float eps, int64_t rows, int64_t n) {
  for (int64_t i = 0; i < rows; ++i, x += n, y += n) {
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += x[j] * x[j];
    float scale = 1.0f / std::sqrt(sum / n + eps);
    for (int64_t j = 0; j < n; ++j) y[j] = x[j] * scale * w[j];
  }
  return 0;
}
