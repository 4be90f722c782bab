// /// kernelwright
// strategy = "plain loops under -ffast-math: the compiler reorders the sum by itself, infinities still come out right"
// flags = ["-ffast-math"]
// ///
#include <cmath>
#include <cstdint>

extern "C" int rmsnorm(const float* x, const float* weight, float* y, float eps, int64_t M, int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    const float* row = x + i * N;
    float squares = 0.0f;
    for (int64_t j = 0; j < N; ++j) squares += row[j] * row[j];
    // In double, where the compiler has no approximate root to start from.
    const float scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(squares) / N + eps));
    for (int64_t j = 0; j < N; ++j) y[i * N + j] = row[j] * scale * weight[j];
  }
  return 0;
}
