// /// kernelwright
// strategy = "the gate through a hyperbolic tangent in double; the second product adds rows of a turned copy"
// ///
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" int swiglu(const float* x, const float* gate, const float* up, const float* down, float* y, int64_t M,
                      int64_t D, int64_t F) {
  std::vector<float> turned(D * F);
  std::vector<float> hidden(M * F);
#pragma omp parallel
  {
#pragma omp for nowait
    for (int64_t f = 0; f < F; ++f)
      for (int64_t d = 0; d < D; ++d) turned[f * D + d] = down[d * F + f];
#pragma omp for collapse(2)
    for (int64_t i = 0; i < M; ++i)
      for (int64_t f = 0; f < F; ++f) {
        double g = 0.0, u = 0.0;
        for (int64_t d = 0; d < D; ++d) {
          g += static_cast<double>(x[i * D + d]) * gate[f * D + d];
          u += static_cast<double>(x[i * D + d]) * up[f * D + d];
        }
        // An infinite gate times nought is NaN here as it is in g / (1 + exp(-g)).
        const double silu = std::isinf(g) && g < 0 ? NAN : 0.5 * g * (1.0 + std::tanh(0.5 * g));
        hidden[i * F + f] = static_cast<float>(silu * u);
      }
#pragma omp for
    for (int64_t i = 0; i < M; ++i) {
      for (int64_t d = 0; d < D; ++d) y[i * D + d] = 0.0f;
      for (int64_t f = 0; f < F; ++f)
        for (int64_t d = 0; d < D; ++d) y[i * D + d] += hidden[i * F + f] * turned[f * D + d];
    }
  }
  return 0;
}
