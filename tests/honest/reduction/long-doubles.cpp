// /// kernelwright
// strategy = "eighty bits on the old floating-point stack, which leaves nothing to round until the end"
// ///
#include <omp.h>

#include <cstdint>
#include <vector>

extern "C" int reduction(const float* x, float* y, int64_t M, int64_t N) {
  static std::vector<long double> parts;  // room only; every value is written before it is read
  const int64_t hands = omp_get_max_threads();
  if (static_cast<int64_t>(parts.size()) < M * hands) parts.resize(M * hands);
#pragma omp parallel for collapse(2)
  for (int64_t i = 0; i < M; ++i)
    for (int64_t h = 0; h < hands; ++h) {
      long double sum = 0.0L;
      for (int64_t j = N * h / hands; j < N * (h + 1) / hands; ++j) sum += x[i * N + j];
      parts[i * hands + h] = sum;
    }
  for (int64_t i = 0; i < M; ++i) {
    long double sum = 0.0L;
    for (int64_t h = 0; h < hands; ++h) sum += parts[i * hands + h];
    y[i] = static_cast<float>(sum);
  }
  return 0;
}
