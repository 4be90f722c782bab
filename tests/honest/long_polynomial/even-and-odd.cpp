// /// kernelwright
// strategy = "even and odd powers apart: two chains of half the length, joined at the end"
// ///
#include <cstdint>

extern "C" int long_polynomial(const float* x, float* y, int64_t N) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < N; ++i) {
    const float v = x[i], square = v * v;
    float odd = 0.5f, even = 0.25f;  // of x^97 and x^96
    for (int k = 0; k < 96; k += 2) {
      odd = odd * square + static_cast<float>(0.1 + 0.001 * k);
      even = even * square + static_cast<float>(0.1 + 0.001 * (k + 1));
    }
    y[i] = odd * v + even;
  }
  return 0;
}
