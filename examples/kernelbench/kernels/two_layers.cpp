// /// kernelwright
// strategy = "both layers of a row while it is in cache"
// ///
#include <cstdint>

static float dot(const float* a, const float* b, int64_t n) {
  float total = 0;
#pragma omp simd reduction(+ : total)
  for (int64_t i = 0; i < n; ++i) total += a[i] * b[i];
  return total;
}

extern "C" int two_layers(const float* x, const float* fc1_weight, const float* fc1_bias,
                          const float* fc2_weight, const float* fc2_bias, float* out) {
  constexpr int64_t M = 64, WIDTH = 256, HIDDEN = 384, CLASSES = 48;
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    float hidden[HIDDEN];
    for (int64_t h = 0; h < HIDDEN; ++h) {
      const float sum = dot(x + i * WIDTH, fc1_weight + h * WIDTH, WIDTH) + fc1_bias[h];
      hidden[h] = sum < 0 ? 0 : sum;
    }
    for (int64_t c = 0; c < CLASSES; ++c)
      out[i * CLASSES + c] = dot(hidden, fc2_weight + c * HIDDEN, HIDDEN) + fc2_bias[c];
  }
  return 0;
}
