// Plain direct convolution: every tap of every input channel of the group is added to one output plane.
#include <cstdint>

extern "C" int group_conv(const float* x, const float* weight, float* y, int64_t N, int64_t C, int64_t H, int64_t W,
                          int64_t G) {
  const int64_t depth = C / G;  // channels of a group
#pragma omp parallel for
  for (int64_t plane = 0; plane < N * C; ++plane) {
    const int64_t n = plane / C, c = plane % C, group = c / depth;
    float* out = y + plane * H * W;
    for (int64_t i = 0; i < H * W; ++i) out[i] = 0.0f;
    for (int64_t k = 0; k < depth; ++k) {
      const float* in = x + (n * C + group * depth + k) * H * W;
      for (int64_t r = 0; r < 3; ++r)
        for (int64_t s = 0; s < 3; ++s) {
          const float tap = weight[((c * depth + k) * 3 + r) * 3 + s];
          const int64_t top = r == 0, bottom = H - (r == 2);
          const int64_t left = s == 0, right = W - (s == 2);
          for (int64_t h = top; h < bottom; ++h)
            for (int64_t w = left; w < right; ++w) out[h * W + w] += tap * in[(h + r - 1) * W + w + s - 1];
        }
    }
  }
  return 0;
}
