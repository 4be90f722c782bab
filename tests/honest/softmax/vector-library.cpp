// /// kernelwright
// strategy = "exponentials of the system's vector library, declared to OpenMP; two sweeps of the output"
// needs = ["mvec"]
// ///
#include <cstdint>

#pragma omp declare simd notinbranch
extern "C" float expf(float) noexcept;

extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    const float* row = x + i * N;
    float* out = y + i * N;
    float top = -__builtin_inff(), sum = 0.0f;
#pragma omp simd reduction(max : top)
    for (int64_t j = 0; j < N; ++j) top = row[j] > top ? row[j] : top;
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < N; ++j) {
      out[j] = expf(row[j] - top);
      sum += out[j];
    }
    const float scale = 1.0f / sum;
#pragma omp simd
    for (int64_t j = 0; j < N; ++j) out[j] *= scale;
  }
  return 0;
}
