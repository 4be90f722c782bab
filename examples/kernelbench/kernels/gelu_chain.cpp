// /// kernelwright
// strategy = "one pass over rows"
// ///
#include <cmath>
#include <cstdint>

// A NaN stays one: both comparisons with it are false.
static float clamp(float v) { return v < -2.0f ? -2.0f : v > 2.0f ? 2.0f : v; }

extern "C" int gelu_chain(const float* x, const float* residual, float* out) {
#pragma omp parallel for
  for (int64_t i = 0; i < 256 * 1024; ++i) {
    const float v = x[i];
    const float inner = 0.7978845608f * (v + 0.044715f * v * v * v);
    out[i] = clamp(0.5f * v * (1.0f + std::tanh(inner)) + residual[i]);
  }
  return 0;
}
