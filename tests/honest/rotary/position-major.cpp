// /// kernelwright
// strategy = "positions outside, heads inside: cosines and sines of a position are read once for all heads"
// ///
#include <cstdint>

extern "C" int rotary(const float* x, const float* cos, const float* sin, float* y, int64_t B, int64_t H, int64_t S,
                      int64_t D) {
  const int64_t half = D / 2;
  constexpr int64_t MOST = 256;
#pragma omp parallel for schedule(static)
  for (int64_t s = 0; s < S; ++s) {
    float c[MOST], n[MOST];  // n: minus the sine, so that both halves are sums
    for (int64_t from = 0; from < half; from += MOST) {
      const int64_t count = half - from < MOST ? half - from : MOST;
      for (int64_t d = 0; d < count; ++d) {
        c[d] = cos[s * half + from + d];
        n[d] = -sin[s * half + from + d];
      }
      for (int64_t head = 0; head < B * H; ++head) {
        const float* __restrict in = x + (head * S + s) * D + from;
        float* __restrict out = y + (head * S + s) * D + from;
#pragma omp simd
        for (int64_t d = 0; d < count; ++d) {
          out[d] = in[d] * c[d] + in[half + d] * n[d];
          out[half + d] = in[half + d] * c[d] - in[d] * n[d];
        }
      }
    }
  }
  return 0;
}
