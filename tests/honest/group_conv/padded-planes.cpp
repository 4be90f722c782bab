// /// kernelwright
// strategy = "input planes are copied with a border of noughts, so that nine taps need no conditions"
// ///
#include <cstdint>
#include <cstring>
#include <vector>

extern "C" int group_conv(const float* x, const float* weight, float* y, int64_t N, int64_t C, int64_t H, int64_t W,
                          int64_t G) {
  const int64_t depth = C / G, wide = W + 2, plane = (H + 2) * wide;
  std::vector<float> padded(N * C * plane, 0.0f);
#pragma omp parallel
  {
#pragma omp for
    for (int64_t p = 0; p < N * C; ++p)
      for (int64_t h = 0; h < H; ++h)
        std::memcpy(padded.data() + p * plane + (h + 1) * wide + 1, x + (p * H + h) * W, W * sizeof(float));
#pragma omp for
    for (int64_t p = 0; p < N * C; ++p) {
      const int64_t c = p % C;
      const float* group = padded.data() + (p - c + c / depth * depth) * plane;
      for (int64_t h = 0; h < H; ++h) {
        float* out = y + (p * H + h) * W;
        for (int64_t w = 0; w < W; ++w) out[w] = 0.0f;
        for (int64_t k = 0; k < depth; ++k) {
          const float* taps = weight + (c * depth + k) * 9;
          const float *r0 = group + k * plane + h * wide, *r1 = r0 + wide, *r2 = r1 + wide;
          for (int64_t w = 0; w < W; ++w)
            out[w] += taps[0] * r0[w] + taps[1] * r0[w + 1] + taps[2] * r0[w + 2] + taps[3] * r1[w] +
                      taps[4] * r1[w + 1] + taps[5] * r1[w + 2] + taps[6] * r2[w] + taps[7] * r2[w + 1] +
                      taps[8] * r2[w + 2];
        }
      }
    }
  }
  return 0;
}
