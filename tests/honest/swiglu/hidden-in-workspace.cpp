// /// kernelwright
// strategy = "the hidden layer lies in the workspace; two loops over output columns, each reading a weight row once"
// ///
#include <cmath>
#include <cstdint>

extern "C" int64_t swiglu_workspace(int64_t M, int64_t, int64_t F) { return M * F * 4 + 4; }

extern "C" int swiglu(const float* x, const float* gate, const float* up, const float* down, float* y, int64_t M,
                      int64_t D, int64_t F, void* workspace) {
  float* const hidden = static_cast<float*>(workspace);
#pragma omp parallel
  {
#pragma omp for
    for (int64_t f = 0; f < F; ++f)
      for (int64_t i = 0; i < M; ++i) {
        float g = 0.0f, u = 0.0f;
#pragma omp simd reduction(+ : g, u)
        for (int64_t d = 0; d < D; ++d) {
          g += x[i * D + d] * gate[f * D + d];
          u += x[i * D + d] * up[f * D + d];
        }
        hidden[i * F + f] = g / (1.0f + std::exp(-g)) * u;
      }
#pragma omp for
    for (int64_t d = 0; d < D; ++d)
      for (int64_t i = 0; i < M; ++i) {
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int64_t f = 0; f < F; ++f) sum += hidden[i * F + f] * down[d * F + f];
        y[i * D + d] = sum;
      }
  }
  return 0;
}
