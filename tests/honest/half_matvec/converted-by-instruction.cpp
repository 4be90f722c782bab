// /// kernelwright
// strategy = "F16C converts eight halves at a time where the processor can, a table-free loop elsewhere"
// ///
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

float plain(const _Float16* a, const _Float16* x, int64_t from, int64_t k) {
  double sum = 0.0;
  for (int64_t j = from; j < k; ++j) sum += static_cast<double>(a[j]) * static_cast<double>(x[j]);
  return static_cast<float>(sum);
}

float anywhere(const _Float16* a, const _Float16* x, int64_t k) { return plain(a, x, 0, k); }

#if defined(__x86_64__)
__attribute__((target("avx2,fma,f16c"))) float converted(const _Float16* a, const _Float16* x, int64_t k) {
  __m256 sums = _mm256_setzero_ps();
  int64_t j = 0;
  for (; j + 8 <= k; j += 8) {
    const __m256 p = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + j)));
    const __m256 q = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + j)));
    sums = _mm256_fmadd_ps(p, q, sums);
  }
  float lanes[8];
  _mm256_storeu_ps(lanes, sums);
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7])) +
         plain(a, x, j, k);
}
#endif

}  // namespace

extern "C" int half_matvec(const _Float16* a, const _Float16* x, _Float16* y, int64_t M, int64_t K) {
  auto* dot = anywhere;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
    dot = converted;
#endif
#pragma omp parallel for schedule(dynamic, 16)
  for (int64_t i = 0; i < M; ++i) y[i] = static_cast<_Float16>(dot(a + i * K, x, K));
  return 0;
}
