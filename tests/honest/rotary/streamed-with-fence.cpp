// /// kernelwright
// strategy = "stores that pass the caches by, and a fence before each thread leaves the region"
// ///
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

inline void put(float* p, float a, float b, float c, float d) {
#if defined(__x86_64__)
  if (reinterpret_cast<uintptr_t>(p) % 16 == 0) {
    _mm_stream_ps(p, _mm_setr_ps(a, b, c, d));
    return;
  }
#endif
  p[0] = a, p[1] = b, p[2] = c, p[3] = d;
}

inline void fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace

extern "C" int rotary(const float* x, const float* cos, const float* sin, float* y, int64_t B, int64_t H, int64_t S,
                      int64_t D) {
  const int64_t half = D / 2;
#pragma omp parallel
  {
#pragma omp for nowait
    for (int64_t row = 0; row < B * H * S; ++row) {
      const float *c = cos + row % S * half, *s = sin + row % S * half, *in = x + row * D;
      float* out = y + row * D;
      int64_t d = 0;
      for (; d + 4 <= half; d += 4) {
        float first[4], second[4];
        for (int l = 0; l < 4; ++l) {
          first[l] = in[d + l] * c[d + l] - in[half + d + l] * s[d + l];
          second[l] = in[half + d + l] * c[d + l] + in[d + l] * s[d + l];
        }
        put(out + d, first[0], first[1], first[2], first[3]);
        put(out + half + d, second[0], second[1], second[2], second[3]);
      }
      for (; d < half; ++d) {
        out[d] = in[d] * c[d] - in[half + d] * s[d];
        out[half + d] = in[half + d] * c[d] + in[d] * s[d];
      }
    }
    fence();
  }
  return 0;
}
