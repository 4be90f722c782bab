// /// kernelwright
// strategy = "one pass for sum and sum of squares, both in double, of distances from the row's first element"
// ///
#include <cmath>
#include <cstdint>

extern "C" int layernorm(const float* x, const float* weight, const float* bias, float* y, float eps, int64_t M,
                         int64_t N) {
  if (N == 0) return 0;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < M; ++i) {
    const float* row = x + i * N;
    float* out = y + i * N;
    const double origin = std::isfinite(row[0]) ? row[0] : 0.0;
    double sum = 0.0, squares = 0.0;
#pragma omp simd reduction(+ : sum, squares)
    for (int64_t j = 0; j < N; ++j) {
      const double d = row[j] - origin;
      sum += d;
      squares += d * d;
    }
    const double shift = sum / N, variance = squares / N - shift * shift;
    const double scale = 1.0 / std::sqrt((variance > 0.0 || std::isnan(variance) ? variance : 0.0) + eps);
    const double mean = origin + shift;
    for (int64_t j = 0; j < N; ++j)
      out[j] = static_cast<float>((row[j] - mean) * scale) * weight[j] + bias[j];
  }
  return 0;
}
