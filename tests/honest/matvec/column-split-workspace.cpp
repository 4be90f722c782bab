// /// kernelwright
// strategy = "columns are split into strips whose partial products fill the contract's workspace, then rows are added up"
// tune.STRIPS = [8, 4, 16]
// ///
#include <cstdint>

extern "C" int64_t matvec_workspace(int64_t M, int64_t K) { return (K ? STRIPS : 1) * M * 4 + 4; }

extern "C" int matvec(const float* a, const float* x, float* y, int64_t M, int64_t K, void* workspace) {
  float* const partial = static_cast<float*>(workspace);
  const int64_t strips = K ? STRIPS : 1;
#pragma omp parallel
  {
#pragma omp for collapse(2)
    for (int64_t s = 0; s < strips; ++s)
      for (int64_t i = 0; i < M; ++i) {
        const int64_t from = K * s / strips, until = K * (s + 1) / strips;
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int64_t k = from; k < until; ++k) sum += a[i * K + k] * x[k];
        partial[s * M + i] = sum;
      }
#pragma omp for
    for (int64_t i = 0; i < M; ++i) {
      double sum = 0.0;
      for (int64_t s = 0; s < strips; ++s) sum += partial[s * M + i];
      y[i] = static_cast<float>(sum);
    }
  }
  return 0;
}
