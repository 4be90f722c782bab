// /// kernelwright
// strategy = "two output channels at once from one reading of the inputs; offsets of taps from a table kept for the shape"
// ///
#include <cstdint>
#include <vector>

namespace {

struct Tap {
  int64_t offset, top, bottom, left, right;
};

// The nine taps of a plane; rebuilt when the plane has another size.
const std::vector<Tap>& taps_for(int64_t H, int64_t W) {
  thread_local std::vector<Tap> taps;
  thread_local int64_t known_h = -1, known_w = -1;
  if (known_h == H && known_w == W) return taps;
  taps.clear();
  for (int64_t r = -1; r <= 1; ++r)
    for (int64_t s = -1; s <= 1; ++s) taps.push_back({r * W + s, r < 0, H - (r > 0), s < 0, W - (s > 0)});
  known_h = H, known_w = W;
  return taps;
}

template <int PAIR>
void planes(const float* in, const float* weight, float* y, int64_t depth, int64_t H, int64_t W) {
  const std::vector<Tap>& taps = taps_for(H, W);
  for (int64_t at = 0; at < PAIR * H * W; ++at) y[at] = 0.0f;
  for (int64_t k = 0; k < depth; ++k)
    for (int t = 0; t < 9; ++t) {
      const Tap& tap = taps[t];
      float factor[PAIR];
      for (int p = 0; p < PAIR; ++p) factor[p] = weight[(p * depth + k) * 9 + t];
      for (int64_t h = tap.top; h < tap.bottom; ++h) {
        const float* row = in + k * H * W + h * W + tap.offset;
        float* out = y + h * W;
        for (int64_t w = tap.left; w < tap.right; ++w)
          for (int p = 0; p < PAIR; ++p) out[p * H * W + w] += factor[p] * row[w];
      }
    }
}

}  // namespace

extern "C" int group_conv(const float* x, const float* weight, float* y, int64_t N, int64_t C, int64_t H, int64_t W,
                          int64_t G) {
  const int64_t depth = C / G;
#pragma omp parallel for collapse(2)
  for (int64_t n = 0; n < N; ++n)
    for (int64_t g = 0; g < G; ++g) {
      const float* in = x + (n * C + g * depth) * H * W;
      int64_t c = g * depth;
      for (; c + 2 <= (g + 1) * depth; c += 2)
        planes<2>(in, weight + c * depth * 9, y + (n * C + c) * H * W, depth, H, W);
      for (; c < (g + 1) * depth; ++c)
        planes<1>(in, weight + c * depth * 9, y + (n * C + c) * H * W, depth, H, W);
    }
  return 0;
}
