// /// kernelwright
// strategy = "pairs as a small complex type with an operator of its own, positions turned one after the other"
// ///
#include <cstdint>

namespace {

struct Turn {
  float c, s;
};
struct Pair {
  float a, b;
};

inline Pair operator*(Turn t, Pair p) { return {p.a * t.c - p.b * t.s, p.b * t.c + p.a * t.s}; }

}  // namespace

extern "C" int rotary(const float* x, const float* cos, const float* sin, float* y, int64_t B, int64_t H, int64_t S,
                      int64_t D) {
  const int64_t half = D / 2;
#pragma omp parallel for collapse(3)
  for (int64_t b = 0; b < B; ++b)
    for (int64_t h = 0; h < H; ++h)
      for (int64_t s = 0; s < S; ++s) {
        const int64_t at = ((b * H + h) * S + s) * D;
        for (int64_t d = 0; d < half; ++d) {
          const Pair turned = Turn{cos[s * half + d], sin[s * half + d]} * Pair{x[at + d], x[at + half + d]};
          y[at + d] = turned.a;
          y[at + half + d] = turned.b;
        }
      }
  return 0;
}
