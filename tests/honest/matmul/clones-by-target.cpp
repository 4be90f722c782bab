// /// kernelwright
// strategy = "intrinsics of three instruction sets behind one pointer, the pick made at the first call"
// ///
#include <atomic>
#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using Rows = void (*)(const float* a, const float* b, float* c, int64_t rows, int64_t N, int64_t K);

void anywhere(const float* a, const float* b, float* c, int64_t rows, int64_t N, int64_t K) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < N; ++j) c[i * N + j] = 0.0f;
    for (int64_t k = 0; k < K; ++k)
      for (int64_t j = 0; j < N; ++j) c[i * N + j] += a[i * K + k] * b[k * N + j];
  }
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void wide(const float* a, const float* b, float* c, int64_t rows, int64_t N,
                                             int64_t K) {
  for (int64_t j = 0; j < N; j += 16) {
    const __mmask16 mask = N - j >= 16 ? 0xffff : static_cast<__mmask16>((1u << (N - j)) - 1);
    int64_t i = 0;
    for (; i + 4 <= rows; i += 4) {
      const float* p = a + i * K;
      __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
      for (int64_t k = 0; k < K; ++k) {
        const __m512 v = _mm512_maskz_loadu_ps(mask, b + k * N + j);
        s0 = _mm512_fmadd_ps(_mm512_set1_ps(p[k]), v, s0);
        s1 = _mm512_fmadd_ps(_mm512_set1_ps(p[K + k]), v, s1);
        s2 = _mm512_fmadd_ps(_mm512_set1_ps(p[2 * K + k]), v, s2);
        s3 = _mm512_fmadd_ps(_mm512_set1_ps(p[3 * K + k]), v, s3);
      }
      float* out = c + i * N + j;
      _mm512_mask_storeu_ps(out, mask, s0);
      _mm512_mask_storeu_ps(out + N, mask, s1);
      _mm512_mask_storeu_ps(out + 2 * N, mask, s2);
      _mm512_mask_storeu_ps(out + 3 * N, mask, s3);
    }
    for (; i < rows; ++i) {
      __m512 s = _mm512_setzero_ps();
      for (int64_t k = 0; k < K; ++k)
        s = _mm512_fmadd_ps(_mm512_set1_ps(a[i * K + k]), _mm512_maskz_loadu_ps(mask, b + k * N + j), s);
      _mm512_mask_storeu_ps(c + i * N + j, mask, s);
    }
  }
}

__attribute__((target("avx2,fma"))) void middle(const float* a, const float* b, float* c, int64_t rows, int64_t N,
                                                int64_t K) {
  for (int64_t i = 0; i < rows; ++i) {
    int64_t j = 0;
    for (; j + 16 <= N; j += 16) {
      __m256 s0 = _mm256_setzero_ps(), s1 = s0;
      for (int64_t k = 0; k < K; ++k) {
        const __m256 f = _mm256_set1_ps(a[i * K + k]);
        s0 = _mm256_fmadd_ps(f, _mm256_loadu_ps(b + k * N + j), s0);
        s1 = _mm256_fmadd_ps(f, _mm256_loadu_ps(b + k * N + j + 8), s1);
      }
      _mm256_storeu_ps(c + i * N + j, s0);
      _mm256_storeu_ps(c + i * N + j + 8, s1);
    }
    for (; j < N; ++j) {
      float sum = 0.0f;
      for (int64_t k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
      c[i * N + j] = sum;
    }
  }
}
#endif

std::atomic<Rows> chosen{nullptr};

Rows pick() {
  Rows rows = chosen.load(std::memory_order_acquire);
  if (rows) return rows;
  rows = anywhere;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) rows = middle;
  if (__builtin_cpu_supports("avx512f")) rows = wide;
#endif
  chosen.store(rows, std::memory_order_release);
  return rows;
}

}  // namespace

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  const Rows rows = pick();
#pragma omp parallel for
  for (int64_t i = 0; i < M; i += 16) rows(a + i * K, b, c + i * N, M - i < 16 ? M - i : 16, N, K);
  return 0;
}
