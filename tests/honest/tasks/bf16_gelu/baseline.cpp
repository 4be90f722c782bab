// One element after the other, computed in float and rounded to the nearest, ties to even.
#include <cmath>
#include <cstdint>
#include <cstring>

static float widen(uint16_t h) {
  const uint32_t bits = static_cast<uint32_t>(h) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

static uint16_t narrow(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, sizeof bits);
  if (std::isnan(f)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

extern "C" int bf16_gelu(const uint16_t* x, const uint16_t* bias, uint16_t* y, int64_t M, int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i)
    for (int64_t j = 0; j < N; ++j) {
      const float z = widen(x[i * N + j]) + widen(bias[j]);
      y[i * N + j] = narrow(0.5f * z * (1.0f + std::tanh(0.79788456f * (z + 0.044715f * z * z * z))));
    }
  return 0;
}
