// /// kernelwright
// strategy = "gate and up are interleaved block by block into a small buffer, so that one stream feeds both sums"
// ///
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr int64_t WIDTH = 8;  // hidden units a block

void block(const float* x, const float* mixed, float* hidden, int64_t M, int64_t D, int64_t F, int64_t units) {
  for (int64_t i = 0; i < M; ++i) {
    float sums[2 * WIDTH] = {};
    for (int64_t d = 0; d < D; ++d) {
      const float v = x[i * D + d];
      for (int64_t u = 0; u < 2 * WIDTH; ++u) sums[u] += v * mixed[d * 2 * WIDTH + u];
    }
    for (int64_t u = 0; u < units; ++u)
      hidden[i * F + u] = sums[u] / (1.0f + std::exp(-sums[u])) * sums[WIDTH + u];
  }
}

}  // namespace

extern "C" int swiglu(const float* x, const float* gate, const float* up, const float* down, float* y, int64_t M,
                      int64_t D, int64_t F) {
  std::vector<float> hidden(M * F);
#pragma omp parallel
  {
    std::vector<float> mixed(D * 2 * WIDTH);
#pragma omp for schedule(static)
    for (int64_t f = 0; f < F; f += WIDTH) {
      const int64_t units = F - f < WIDTH ? F - f : WIDTH;
      if (units < WIDTH && D) std::memset(mixed.data(), 0, mixed.size() * sizeof(float));
      for (int64_t u = 0; u < units; ++u)
        for (int64_t d = 0; d < D; ++d) {
          mixed[d * 2 * WIDTH + u] = gate[(f + u) * D + d];
          mixed[d * 2 * WIDTH + WIDTH + u] = up[(f + u) * D + d];
        }
      block(x, mixed.data(), hidden.data() + f, M, D, F, units);
    }
#pragma omp for schedule(static)
    for (int64_t d = 0; d < D; ++d)
      for (int64_t i = 0; i < M; ++i) {
        float lanes[16] = {}, sum = 0.0f;
        int64_t f = 0;
        for (; f + 16 <= F; f += 16)
          for (int l = 0; l < 16; ++l) lanes[l] += hidden[i * F + f + l] * down[d * F + f + l];
        for (; f < F; ++f) sum += hidden[i * F + f] * down[d * F + f];
        for (float lane : lanes) sum += lane;
        y[i * D + d] = sum;
      }
  }
  return 0;
}
