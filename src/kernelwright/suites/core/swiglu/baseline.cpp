// One row at a time: the two projections and the gate into a scratch row, then the projection back.
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" int swiglu(const float* x, const float* gate, const float* up, const float* down, float* y, int64_t M,
                      int64_t D, int64_t F) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    std::vector<float> hidden(F);
    for (int64_t f = 0; f < F; ++f) {
      float gated = 0.0f, raised = 0.0f;
      for (int64_t d = 0; d < D; ++d) {
        gated += x[i * D + d] * gate[f * D + d];
        raised += x[i * D + d] * up[f * D + d];
      }
      hidden[f] = gated / (1.0f + std::exp(-gated)) * raised;
    }
    for (int64_t d = 0; d < D; ++d) {
      float sum = 0.0f;
      for (int64_t f = 0; f < F; ++f) sum += hidden[f] * down[d * F + f];
      y[i * D + d] = sum;
    }
  }
  return 0;
}
