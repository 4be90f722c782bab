// /// kernelwright
// strategy = "bfloat16 widened and rounded by shifts in loops that vectorise, the tangent through an exponential"
// ///
#include <cmath>
#include <cstdint>

namespace {

constexpr int64_t BLOCK = 128;

union Word {
  uint32_t bits;
  float value;
};

inline float widen(uint16_t h) {
  Word w;
  w.bits = static_cast<uint32_t>(h) << 16;
  return w.value;
}

inline uint16_t narrow(float f) {
  Word w;
  w.value = f;
  const uint32_t rounded = (w.bits + 0x7fffu + (w.bits >> 16 & 1u)) >> 16;
  return static_cast<uint16_t>(f != f ? 0x7fc0u : rounded);
}

}  // namespace

extern "C" int bf16_gelu(const uint16_t* x, const uint16_t* bias, uint16_t* y, int64_t M, int64_t N) {
#pragma omp parallel for collapse(2)
  for (int64_t i = 0; i < M; ++i)
    for (int64_t j0 = 0; j0 < N; j0 += BLOCK) {
      const int64_t n = N - j0 < BLOCK ? N - j0 : BLOCK;
      float z[BLOCK], t[BLOCK];
      for (int64_t j = 0; j < n; ++j) z[j] = widen(x[i * N + j0 + j]) + widen(bias[j0 + j]);
      // z (1 + tanh u) / 2 is z / (1 + exp(-2u)); without end below, both are NaN.
      for (int64_t j = 0; j < n; ++j) t[j] = std::exp(-1.5957691f * (z[j] + 0.044715f * z[j] * z[j] * z[j]));
      for (int64_t j = 0; j < n; ++j) {
        // Far below, the exponential overflows though the answer is nought.
        const float v = t[j] == INFINITY && z[j] != -INFINITY ? -0.0f : z[j] / (1.0f + t[j]);
        y[i * N + j0 + j] = narrow(v);
      }
    }
  return 0;
}
