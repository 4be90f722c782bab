// /// kernelwright
// strategy = "plain loops whose sums the compiler may reorder, and nothing else of fast math"
// flags = ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-funroll-loops"]
// ///
#include <cmath>
#include <cstdint>

extern "C" int layernorm(const float* x, const float* weight, const float* bias, float* y, float eps, int64_t M,
                         int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    const float* __restrict row = x + i * N;
    float* __restrict out = y + i * N;
    float sum = 0.0f, squares = 0.0f;
    for (int64_t j = 0; j < N; ++j) sum += row[j];
    const float mean = sum / static_cast<float>(N);
    for (int64_t j = 0; j < N; ++j) squares += (row[j] - mean) * (row[j] - mean);
    const float scale = 1.0f / std::sqrt(squares / static_cast<float>(N) + eps);
    for (int64_t j = 0; j < N; ++j) out[j] = (row[j] - mean) * scale * weight[j] + bias[j];
  }
  return 0;
}
