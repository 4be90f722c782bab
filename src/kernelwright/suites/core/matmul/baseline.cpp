// Three plain loops; the innermost runs along rows of b and c, so that memory is read in order.
#include <cstdint>

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    float* out = c + i * N;
    for (int64_t j = 0; j < N; ++j) out[j] = 0.0f;
    for (int64_t k = 0; k < K; ++k)
      for (int64_t j = 0; j < N; ++j) out[j] += a[i * K + k] * b[k * N + j];
  }
  return 0;
}
