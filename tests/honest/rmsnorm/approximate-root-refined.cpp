// /// kernelwright
// strategy = "the processor's approximate reciprocal root and two Newton steps, an infinite sum handled apart"
// ///
#include <cmath>
#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

inline float reciprocal_root(float a) {
  if (std::isinf(a)) return 0.0f;  // Newton's step would multiply it by zero
#if defined(__x86_64__)
  float r = _mm_cvtss_f32(_mm_rsqrt_ss(_mm_set_ss(a)));
#else
  float r = 1.0f / std::sqrt(a);
#endif
  for (int step = 0; step < 2; ++step) r = r * (1.5f - 0.5f * a * r * r);
  return r;
}

}  // namespace

extern "C" int rmsnorm(const float* x, const float* weight, float* y, float eps, int64_t M, int64_t N) {
  typedef float vec __attribute__((vector_size(32)));
  typedef float loose __attribute__((vector_size(32), aligned(4), may_alias));
#pragma omp parallel for schedule(static, 2)
  for (int64_t i = 0; i < M; ++i) {
    const float* row = x + i * N;
    float* out = y + i * N;
    vec sums[3] = {};
    int64_t j = 0;
    for (; j + 24 <= N; j += 24)
      for (int k = 0; k < 3; ++k) {
        const vec v = *reinterpret_cast<const loose*>(row + j + 8 * k);
        sums[k] += v * v;
      }
    const vec sum = sums[0] + sums[1] + sums[2];
    float total = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    for (; j < N; ++j) total += row[j] * row[j];
    const float scale = reciprocal_root(total / static_cast<float>(N) + eps);
    for (j = 0; j < N; ++j) out[j] = row[j] * scale * weight[j];
  }
  return 0;
}
