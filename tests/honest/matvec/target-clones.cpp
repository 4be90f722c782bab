// /// kernelwright
// strategy = "one plain function compiled for several processors; the loader picks by a resolver in the library"
// ///
#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif

CLONES float matvec_dot(const float* a, const float* x, int64_t k);

float matvec_dot(const float* a, const float* x, int64_t k) {
  float lanes[16] = {}, sum = 0.0f;
  int64_t j = 0;
  for (; j + 16 <= k; j += 16)
    for (int l = 0; l < 16; ++l) lanes[l] += a[j + l] * x[j + l];
  for (; j < k; ++j) sum += a[j] * x[j];
  for (float lane : lanes) sum += lane;
  return sum;
}

extern "C" int matvec(const float* a, const float* x, float* y, int64_t M, int64_t K) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < M; ++i) y[i] = matvec_dot(a + i * K, x, K);
  return 0;
}
