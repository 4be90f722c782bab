// /// kernelwright
// strategy = "AVX-512, AVX2 or plain code for a whole row, chosen once by what the processor says of itself"
// ///
#include <cmath>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

void plain_row(const float* x, float* y, int64_t n) {
  float top = -HUGE_VALF, sum = 0.0f;
  for (int64_t j = 0; j < n; ++j) top = x[j] > top ? x[j] : top;
  for (int64_t j = 0; j < n; ++j) sum += y[j] = std::exp(x[j] - top);
  for (int64_t j = 0; j < n; ++j) y[j] /= sum;
}

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx512f")))
#define MIDDLE __attribute__((target("avx2,fma")))
constexpr float COEFFICIENTS[] = {1.3981999e-3f, 8.3334520e-3f, 4.1665795e-2f, 1.6666665e-1f, 0.5f, 1.0f, 1.0f};

WIDE inline __m512 exp16(__m512 x) {
  x = _mm512_max_ps(_mm512_set1_ps(-150.0f), x);  // the second operand is what is returned for NaN
  const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(x, _mm512_set1_ps(1.44269504f)), 8);
  __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693145751953125f), x);
  r = _mm512_fnmadd_ps(n, _mm512_set1_ps(1.42860677e-6f), r);
  __m512 p = _mm512_set1_ps(COEFFICIENTS[0]);
  for (int c = 1; c < 7; ++c) p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(COEFFICIENTS[c]));
  return _mm512_scalef_ps(p, n);
}

WIDE void wide_row(const float* x, float* y, int64_t n) {
  const __mmask16 rest = static_cast<__mmask16>((1u << (n % 16)) - 1);
  const int64_t even = n - n % 16;
  __m512 tops = _mm512_set1_ps(-HUGE_VALF), sums = _mm512_setzero_ps();
  for (int64_t j = 0; j < even; j += 16) tops = _mm512_max_ps(tops, _mm512_loadu_ps(x + j));
  tops = _mm512_mask_max_ps(tops, rest, tops, _mm512_maskz_loadu_ps(rest, x + even));
  const __m512 top = _mm512_set1_ps(_mm512_reduce_max_ps(tops));
  for (int64_t j = 0; j < even; j += 16) {
    const __m512 e = exp16(_mm512_sub_ps(_mm512_loadu_ps(x + j), top));
    _mm512_storeu_ps(y + j, e);
    sums = _mm512_add_ps(sums, e);
  }
  const __m512 last = exp16(_mm512_sub_ps(_mm512_maskz_loadu_ps(rest, x + even), top));
  _mm512_mask_storeu_ps(y + even, rest, last);
  sums = _mm512_mask_add_ps(sums, rest, sums, last);
  const __m512 sum = _mm512_set1_ps(_mm512_reduce_add_ps(sums));
  for (int64_t j = 0; j < even; j += 16) _mm512_storeu_ps(y + j, _mm512_div_ps(_mm512_loadu_ps(y + j), sum));
  _mm512_mask_storeu_ps(y + even, rest, _mm512_div_ps(_mm512_maskz_loadu_ps(rest, y + even), sum));
}

MIDDLE inline __m256 exp8(__m256 x) {
  const __m256 low = _mm256_cmp_ps(x, _mm256_set1_ps(-87.0f), _CMP_LT_OQ);
  const __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)), 8);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693145751953125f), x);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(1.42860677e-6f), r);
  __m256 p = _mm256_set1_ps(COEFFICIENTS[0]);
  for (int c = 1; c < 7; ++c) p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(COEFFICIENTS[c]));
  const __m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
  return _mm256_andnot_ps(low, _mm256_mul_ps(p, _mm256_castsi256_ps(power)));
}

MIDDLE void middle_row(const float* x, float* y, int64_t n) {
  const int64_t even = n - n % 8;
  float top = -HUGE_VALF, sum = 0.0f, lanes[8];
  for (int64_t j = 0; j < n; ++j) top = x[j] > top ? x[j] : top;
  __m256 sums = _mm256_setzero_ps();
  for (int64_t j = 0; j < even; j += 8) {
    const __m256 e = exp8(_mm256_sub_ps(_mm256_loadu_ps(x + j), _mm256_set1_ps(top)));
    _mm256_storeu_ps(y + j, e);
    sums = _mm256_add_ps(sums, e);
  }
  _mm256_storeu_ps(lanes, sums);
  for (int64_t j = even; j < n; ++j) sum += y[j] = std::exp(x[j] - top);
  for (float lane : lanes) sum += lane;
  for (int64_t j = 0; j < n; ++j) y[j] /= sum;
}
#endif

using Row = void (*)(const float*, float*, int64_t);

Row choose() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return wide_row;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return middle_row;
#endif
  return plain_row;
}

}  // namespace

extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N) {
  static const Row row = choose();
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < M; ++i) row(x + i * N, y + i * N, N);
  return 0;
}
