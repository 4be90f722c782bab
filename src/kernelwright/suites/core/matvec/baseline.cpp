// A plain dot product for each row.
#include <cstdint>

extern "C" int matvec(const float* a, const float* x, float* y, int64_t M, int64_t K) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    float sum = 0.0f;
    for (int64_t k = 0; k < K; ++k) sum += a[i * K + k] * x[k];
    y[i] = sum;
  }
  return 0;
}
