// /// kernelwright
// strategy = "nothing contracted: every product is rounded before it is added to"
// flags = ["-ffp-contract=off"]
// ///
#include <cstdint>

constexpr int LANES = 16;

extern "C" int long_polynomial(const float* x, float* y, int64_t N) {
  float table[96];
  for (int k = 0; k < 96; ++k) table[k] = static_cast<float>(0.1 + 0.001 * k);
#pragma omp parallel for
  for (int64_t start = 0; start < N; start += LANES) {
    const int64_t lanes = N - start < LANES ? N - start : LANES;
    float v[LANES] = {}, sum[LANES];
    for (int64_t l = 0; l < lanes; ++l) v[l] = x[start + l];
    for (int l = 0; l < LANES; ++l) sum[l] = 0.5f * v[l] + 0.25f;
    for (const float c : table)
      for (int l = 0; l < LANES; ++l) sum[l] = sum[l] * v[l] + c;
    for (int64_t l = 0; l < lanes; ++l) y[start + l] = sum[l];
  }
  return 0;
}
