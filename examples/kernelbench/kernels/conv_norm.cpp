// /// kernelwright
// strategy = "normalization folded into the convolution's sum"
// ///
#include <cmath>
#include <cstdint>

extern "C" int conv_norm(const float* x, const float* conv_weight, const float* norm_weight,
                         const float* norm_bias, const float* norm_running_mean,
                         const float* norm_running_var, float* out) {
  constexpr int64_t N = 4, C = 8, K = 16, H = 20, W = 20;
#pragma omp parallel for collapse(2)
  for (int64_t n = 0; n < N; ++n)
    for (int64_t k = 0; k < K; ++k) {
      const float scale = norm_weight[k] / std::sqrt(norm_running_var[k] + 1e-5f);
      for (int64_t h = 0; h < H; ++h)
        for (int64_t w = 0; w < W; ++w) {
          float sum = 0;
          for (int64_t c = 0; c < C; ++c)
            for (int64_t r = -1; r <= 1; ++r)
              for (int64_t s = -1; s <= 1; ++s) {
                const int64_t y = h + r, z = w + s;
                if (y < 0 || y >= H || z < 0 || z >= W) continue;
                sum += x[((n * C + c) * H + y) * W + z] *
                       conv_weight[((k * C + c) * 3 + r + 1) * 3 + s + 1];
              }
          const float value = (sum - norm_running_mean[k]) * scale + norm_bias[k];
          out[((n * K + k) * H + h) * W + w] = value < 0 ? 0 : value;
        }
    }
  return 0;
}
