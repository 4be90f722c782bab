// /// kernelwright
// strategy = "dot products in double under a guided schedule; nothing is unrolled by hand"
// ///
#include <cstdint>
#include <numeric>

extern "C" int matvec(const float* a, const float* x, float* y, int64_t M, int64_t K) {
#pragma omp parallel for schedule(guided, 4)
  for (int64_t i = 0; i < M; ++i)
    y[i] = static_cast<float>(std::inner_product(x, x + K, a + i * K, 0.0, std::plus<>(), [](float p, float q) {
      return static_cast<double>(p) * q;
    }));
  return 0;
}
