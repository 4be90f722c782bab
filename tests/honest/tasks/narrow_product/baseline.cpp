// Three plain loops.
#include <cstdint>

extern "C" int narrow_product(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) c[i * N + j] = 0.0f;
    for (int64_t k = 0; k < K; ++k)
      for (int64_t j = 0; j < N; ++j) c[i * N + j] += a[i * K + k] * b[k * N + j];
  }
  return 0;
}
