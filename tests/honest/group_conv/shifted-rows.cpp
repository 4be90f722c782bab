// /// kernelwright
// strategy = "each output row gathers shifted input rows: a function for the left, the middle and the right tap"
// ///
#include <cstdint>

namespace {

using Shift = void (*)(const float* in, float* out, float tap, int64_t W);

void from_left(const float* in, float* out, float tap, int64_t W) {
#pragma omp simd
  for (int64_t w = 1; w < W; ++w) out[w] += tap * in[w - 1];
}
void from_above(const float* in, float* out, float tap, int64_t W) {
#pragma omp simd
  for (int64_t w = 0; w < W; ++w) out[w] += tap * in[w];
}
void from_right(const float* in, float* out, float tap, int64_t W) {
#pragma omp simd
  for (int64_t w = 0; w < W - 1; ++w) out[w] += tap * in[w + 1];
}
constexpr Shift SHIFTS[] = {from_left, from_above, from_right};

}  // namespace

extern "C" int group_conv(const float* x, const float* weight, float* y, int64_t N, int64_t C, int64_t H, int64_t W,
                          int64_t G) {
  const int64_t depth = C / G;
#pragma omp parallel for collapse(2) schedule(static)
  for (int64_t p = 0; p < N * C; ++p)
    for (int64_t h = 0; h < H; ++h) {
      const int64_t n = p / C, c = p % C;
      float* out = y + (p * H + h) * W;
      for (int64_t w = 0; w < W; ++w) out[w] = 0.0f;
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t r = -1; r <= 1; ++r) {
          if (h + r < 0 || h + r >= H) continue;
          const float* in = x + ((n * C + c / depth * depth + k) * H + h + r) * W;
          for (int64_t s = 0; s < 3; ++s) SHIFTS[s](in, out, weight[((c * depth + k) * 3 + r + 1) * 3 + s], W);
        }
    }
  return 0;
}
