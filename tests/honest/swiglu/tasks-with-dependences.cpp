// /// kernelwright
// strategy = "OpenMP tasks: a block of rows needs its hidden block, and says so with depend clauses"
// ///
#include <cmath>
#include <cstdint>
#include <memory>

namespace {

void expand(const float* x, const float* gate, const float* up, float* hidden, int64_t rows, int64_t D, int64_t F) {
  for (int64_t f = 0; f < F; ++f)
    for (int64_t i = 0; i < rows; ++i) {
      float g = 0.0f, u = 0.0f;
#pragma omp simd reduction(+ : g, u)
      for (int64_t d = 0; d < D; ++d) g += x[i * D + d] * gate[f * D + d], u += x[i * D + d] * up[f * D + d];
      hidden[i * F + f] = g / (1.0f + std::exp(-g)) * u;
    }
}

void contract(const float* hidden, const float* down, float* y, int64_t rows, int64_t D, int64_t F) {
  for (int64_t d = 0; d < D; ++d)
    for (int64_t i = 0; i < rows; ++i) {
      float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
      for (int64_t f = 0; f < F; ++f) sum += hidden[i * F + f] * down[d * F + f];
      y[i * D + d] = sum;
    }
}

}  // namespace

extern "C" int swiglu(const float* x, const float* gate, const float* up, const float* down, float* y, int64_t M,
                      int64_t D, int64_t F) {
  constexpr int64_t BLOCK = 8;
  const std::unique_ptr<float[]> hidden(new float[M * F + 1]);
#pragma omp parallel
#pragma omp single
  for (int64_t i = 0; i < M; i += BLOCK) {
    const int64_t rows = M - i < BLOCK ? M - i : BLOCK;
    float* block = hidden.get() + i * F;
#pragma omp task depend(out : block[0]) firstprivate(i, rows, block)
    expand(x + i * D, gate, up, block, rows, D, F);
#pragma omp task depend(in : block[0]) firstprivate(i, rows, block)
    contract(block, down, y + i * D, rows, D, F);
  }
  return 0;
}
