// One element after the other, by Horner's rule.
#include <cstdint>

extern "C" int long_polynomial(const float* x, float* y, int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < N; ++i) {
    float sum = 0.5f * x[i] + 0.25f;
    for (int k = 0; k < 96; ++k) sum = sum * x[i] + static_cast<float>(0.1 + 0.001 * k);
    y[i] = sum;
  }
  return 0;
}
