// /// kernelwright
// strategy = "pairwise sums of squares by a lambda that calls itself, down to leaves of 128 elements"
// ///
#include <cmath>
#include <cstdint>

extern "C" int rmsnorm(const float* x, const float* weight, float* y, float eps, int64_t M, int64_t N) {
  const auto squares = [](const auto& self, const float* p, int64_t n) -> float {
    if (n > 128) return self(self, p, n / 2) + self(self, p + n / 2, n - n / 2);
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < n; ++j) sum += p[j] * p[j];
    return sum;
  };
  const auto normalise = [&](int64_t i) {
    const float* row = x + i * N;
    const float root = std::sqrt(squares(squares, row, N) / static_cast<float>(N) + eps);
    for (int64_t j = 0; j < N; ++j) y[i * N + j] = row[j] / root * weight[j];
  };
#pragma omp parallel for schedule(guided)
  for (int64_t i = 0; i < M; ++i) normalise(i);
  return 0;
}
