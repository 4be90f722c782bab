// /// kernelwright
// strategy = "two rows at a time with fused multiply-adds written as intrinsics, where the processor has them"
// ///
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

void plain(const float* a, const float* x, float* y, int64_t from, int64_t until, int64_t k) {
  for (int64_t i = from; i < until; ++i) {
    float sum[4] = {};
    for (int64_t j = 0; j < k; ++j) sum[j & 3] += a[i * k + j] * x[j];
    y[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) inline float across(__m256 v) {
  __m128 half = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  half = _mm_add_ps(half, _mm_movehl_ps(half, half));
  return _mm_cvtss_f32(_mm_add_ss(half, _mm_shuffle_ps(half, half, 1)));
}

__attribute__((target("avx2,fma"))) void fused(const float* a, const float* x, float* y, int64_t from, int64_t until,
                                               int64_t k) {
  int64_t i = from;
  for (; i + 2 <= until; i += 2) {
    const float *p = a + i * k, *q = p + k;
    __m256 s0 = _mm256_setzero_ps(), s1 = s0, t0 = s0, t1 = s0;
    int64_t j = 0;
    for (; j + 16 <= k; j += 16) {
      const __m256 v0 = _mm256_loadu_ps(x + j), v1 = _mm256_loadu_ps(x + j + 8);
      s0 = _mm256_fmadd_ps(_mm256_loadu_ps(p + j), v0, s0);
      s1 = _mm256_fmadd_ps(_mm256_loadu_ps(p + j + 8), v1, s1);
      t0 = _mm256_fmadd_ps(_mm256_loadu_ps(q + j), v0, t0);
      t1 = _mm256_fmadd_ps(_mm256_loadu_ps(q + j + 8), v1, t1);
    }
    float s = across(_mm256_add_ps(s0, s1)), t = across(_mm256_add_ps(t0, t1));
    for (; j < k; ++j) s += p[j] * x[j], t += q[j] * x[j];
    y[i] = s, y[i + 1] = t;
  }
  plain(a, x, y, i, until, k);
}
#endif

}  // namespace

extern "C" int matvec(const float* a, const float* x, float* y, int64_t M, int64_t K) {
  auto* rows = plain;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) rows = fused;
#endif
#pragma omp parallel for
  for (int64_t i = 0; i < M; i += 32) rows(a, x, y, i, i + 32 < M ? i + 32 : M, K);
  return 0;
}
