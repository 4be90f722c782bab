#include <cstdint>
#include <cstring>
// exp(v) for v <= 0: 2^k * p(r), r in [-ln2/2, ln2/2], degree-6 polynomial; below -87 the answer is 0.
static inline float exp_nonpositive(float v) {
  float clipped = v < -87.0f ? -87.0f : v;
  float k = clipped * 1.44269504f + 12582912.0f;
  int32_t bits;
  std::memcpy(&bits, &k, 4);
  k -= 12582912.0f;
  float r = (clipped - k * 0.693145752f) - k * 1.42860677e-6f;
  float p = 1.0f + r * (1.0f + r * (0.5f + r * (0.166666667f + r * (0.0416666667f + r * (0.00833333333f + r * 0.00138888889f)))));
  int32_t scale = (int32_t)(((uint32_t)bits + 127u) << 23);
  float power;
  std::memcpy(&power, &scale, 4);
  return v < -87.0f ? 0.0f : p * power;
}
extern "C" int softmax(const float* x, float* y, int64_t rows, int64_t n) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * n;
    float* out = y + i * n;
    float top = in[0], sum = 0;
#pragma omp simd reduction(max : top)
    for (int64_t j = 0; j < n; ++j) top = in[j] > top ? in[j] : top;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < n; ++j) {
      float e = exp_nonpositive(in[j] - top);
      out[j] = e;
      sum += e;
    }
    float inverse = 1.0f / sum;
#pragma omp simd
    for (int64_t j = 0; j < n; ++j) out[j] *= inverse;
  }
  return 0;
}
