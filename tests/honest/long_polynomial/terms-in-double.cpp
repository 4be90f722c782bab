// /// kernelwright
// strategy = "in double, narrowed once"
// ///
#include <cstdint>

extern "C" int long_polynomial(const float* x, float* y, int64_t N) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < N; ++i) {
    const double v = x[i];
    double sum = 0.5 * v + 0.25;
    for (int k = 0; k < 96; ++k) sum = sum * v + (0.1 + 0.001 * k);
    y[i] = static_cast<float>(sum);
  }
  return 0;
}
