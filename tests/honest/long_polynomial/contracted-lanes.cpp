// /// kernelwright
// strategy = "lanes of elements: a product and its sum are one instruction, rounded once"
// ///
#include <cstdint>

extern "C" int long_polynomial(const float* x, float* y, int64_t N) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < N; ++i) {
    const float v = x[i];
    float sum = 0.5f * v + 0.25f;
    for (int k = 0; k < 96; ++k) sum = sum * v + static_cast<float>(0.1 + 0.001 * k);
    y[i] = sum;
  }
  return 0;
}
