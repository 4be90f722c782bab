// /// kernelwright
// strategy = "sums of a batch side by side"
// ///
#include <cmath>
#include <cstdint>

extern "C" int pooled_scale(const float* x, float* out, double scale) {
  constexpr int64_t B = 32, S = 200, D = 64;
#pragma omp parallel for
  for (int64_t b = 0; b < B; ++b) {
    float sums[D] = {};
    for (int64_t s = 0; s < S; ++s)
      for (int64_t d = 0; d < D; ++d) sums[d] += x[(b * S + s) * D + d];
    for (int64_t d = 0; d < D; ++d)
      out[b * D + d] = 1.0f / (1.0f + std::exp(-sums[d] / S * float(scale)));
  }
  return 0;
}
