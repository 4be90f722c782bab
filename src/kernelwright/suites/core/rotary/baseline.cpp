// One plain pass: each pair (d, d + D/2) is rotated by its position's angle.
#include <cstdint>

extern "C" int rotary(const float* x, const float* cos, const float* sin, float* y, int64_t B, int64_t H, int64_t S,
                      int64_t D) {
  const int64_t half = D / 2;
#pragma omp parallel for
  for (int64_t row = 0; row < B * H * S; ++row) {
    const float* c = cos + row % S * half;
    const float* s = sin + row % S * half;
    const float* in = x + row * D;
    float* out = y + row * D;
    for (int64_t d = 0; d < half; ++d) {
      out[d] = in[d] * c[d] - in[half + d] * s[d];
      out[half + d] = in[half + d] * c[d] + in[d] * s[d];
    }
  }
  return 0;
}
