// /// kernelwright
// strategy = "exponentials of the system's vector library over rows in blocks that stay in the first-level cache"
// needs = ["mvec"]
// ///
#include <cstdint>

#pragma omp declare simd notinbranch
extern "C" float expf(float) noexcept;
extern "C" double log(double) noexcept;

extern "C" int cross_entropy(const float* logits, const int64_t* labels, float* loss, int64_t N, int64_t V) {
  constexpr int64_t BLOCK = 4096;
#pragma omp parallel for schedule(dynamic, 2)
  for (int64_t i = 0; i < N; ++i) {
    const float* row = logits + i * V;
    float top = -__builtin_inff();
#pragma omp simd reduction(max : top)
    for (int64_t j = 0; j < V; ++j) top = row[j] > top ? row[j] : top;
    double sum = 0.0;
    for (int64_t j0 = 0; j0 < V; j0 += BLOCK) {
      const int64_t end = V - j0 < BLOCK ? V : j0 + BLOCK;
      float part = 0.0f;
#pragma omp simd reduction(+ : part)
      for (int64_t j = j0; j < end; ++j) part += expf(row[j] - top);
      sum += part;
    }
    loss[i] = static_cast<float>(log(sum) - (static_cast<double>(row[labels[i]]) - top));
  }
  return 0;
}
