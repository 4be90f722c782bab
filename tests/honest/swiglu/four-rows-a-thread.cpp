// /// kernelwright
// strategy = "each thread carries four rows through both layers, its hidden rows in thread-local scratch that only grows"
// ///
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

constexpr int ROWS = 4;

// Four dot products of one weight row; rows that do not exist repeat the last.
void dots(const float* const (&rows)[ROWS], const float* w, int64_t n, float (&out)[ROWS]) {
  float lanes[ROWS][16] = {};
  int64_t j = 0;
  for (; j + 16 <= n; j += 16)
    for (int r = 0; r < ROWS; ++r)
      for (int l = 0; l < 16; ++l) lanes[r][l] += rows[r][j + l] * w[j + l];
  for (int r = 0; r < ROWS; ++r) {
    float sum = 0.0f;
    for (int64_t t = j; t < n; ++t) sum += rows[r][t] * w[t];
    for (int width = 8; width; width /= 2)
      for (int l = 0; l < width; ++l) lanes[r][l] += lanes[r][l + width];
    out[r] = sum + lanes[r][0];
  }
}

}  // namespace

extern "C" int swiglu(const float* x, const float* gate, const float* up, const float* down, float* y, int64_t M,
                      int64_t D, int64_t F) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t i = 0; i < M; i += ROWS) {
    thread_local std::vector<float> scratch;
    if (static_cast<int64_t>(scratch.size()) < ROWS * F) scratch.resize(ROWS * F);
    const int64_t count = M - i < ROWS ? M - i : ROWS;
    const float *in[ROWS], *mid[ROWS];
    for (int r = 0; r < ROWS; ++r) {
      in[r] = x + (i + (r < count ? r : count - 1)) * D;
      mid[r] = scratch.data() + r * F;
    }
    float g[ROWS], u[ROWS];
    for (int64_t f = 0; f < F; ++f) {
      dots(in, gate + f * D, D, g);
      dots(in, up + f * D, D, u);
      for (int r = 0; r < ROWS; ++r) scratch[r * F + f] = g[r] / (1.0f + std::exp(-g[r])) * u[r];
    }
    for (int64_t d = 0; d < D; ++d) {
      dots(mid, down + d * F, F, g);
      for (int64_t r = 0; r < count; ++r) y[(i + r) * D + d] = g[r];
    }
  }
  return 0;
}
