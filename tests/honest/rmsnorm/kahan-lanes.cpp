// /// kernelwright
// strategy = "compensated sums of squares in eight lanes; where the compensation meets infinity the plain sum counts"
// ///
#include <cmath>
#include <cstdint>

namespace {

constexpr int LANES = 8;

float mean_square(const float* x, int64_t n) {
  float sum[LANES] = {}, lost[LANES] = {}, plain[LANES] = {};
  int64_t j = 0;
  for (; j + LANES <= n; j += LANES)
    for (int l = 0; l < LANES; ++l) {
      const float square = x[j + l] * x[j + l];
      const float term = square - lost[l], next = sum[l] + term;
      lost[l] = (next - sum[l]) - term;
      sum[l] = next;
      plain[l] += square;
    }
  float total = 0.0f, rough = 0.0f;
  for (int l = 0; l < LANES; ++l) total += sum[l], rough += plain[l];
  for (; j < n; ++j) total += x[j] * x[j], rough += x[j] * x[j];
  return (std::isfinite(rough) ? total : rough) / static_cast<float>(n);
}

}  // namespace

extern "C" int rmsnorm(const float* x, const float* weight, float* y, float eps, int64_t M, int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    const float scale = 1.0f / std::sqrt(mean_square(x + i * N, N) + eps);
    for (int64_t j = 0; j < N; ++j) y[i * N + j] = x[i * N + j] * scale * weight[j];
  }
  return 0;
}
