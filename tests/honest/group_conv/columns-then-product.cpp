// /// kernelwright
// strategy = "im2col of one image row into the workspace, then a small product with the group's weights"
// ///
#include <omp.h>

#include <cstdint>

extern "C" int64_t group_conv_workspace(int64_t, int64_t C, int64_t, int64_t W, int64_t G) {
  return omp_get_max_threads() * (C / G * 9 * W + 16) * static_cast<int64_t>(sizeof(float));
}

extern "C" int group_conv(const float* x, const float* weight, float* y, int64_t N, int64_t C, int64_t H, int64_t W,
                          int64_t G, void* workspace) {
  const int64_t depth = C / G, taps = depth * 9;
#pragma omp parallel
  {
    float* const columns = static_cast<float*>(workspace) + omp_get_thread_num() * (taps * W + 16);
#pragma omp for collapse(3)
    for (int64_t n = 0; n < N; ++n)
      for (int64_t g = 0; g < G; ++g)
        for (int64_t h = 0; h < H; ++h) {
          for (int64_t t = 0; t < taps; ++t) {
            const int64_t from = h + t % 9 / 3 - 1, shift = t % 3 - 1;
            const float* row = x + ((n * C + g * depth + t / 9) * H + from) * W;
            for (int64_t w = 0; w < W; ++w) {
              const bool inside = from >= 0 && from < H && w + shift >= 0 && w + shift < W;
              columns[t * W + w] = inside ? row[w + shift] : 0.0f;
            }
          }
          for (int64_t c = g * depth; c < (g + 1) * depth; ++c) {
            float* out = y + ((n * C + c) * H + h) * W;
            for (int64_t w = 0; w < W; ++w) out[w] = 0.0f;
            for (int64_t t = 0; t < taps; ++t) {
              const float factor = weight[c * taps + t];
              for (int64_t w = 0; w < W; ++w) out[w] += factor * columns[t * W + w];
            }
          }
        }
  }
  return 0;
}
