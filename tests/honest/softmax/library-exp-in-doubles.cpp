// /// kernelwright
// strategy = "library exponentials held in a vector of doubles; an allocation that throws becomes an error code"
// ///
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <new>
#include <vector>

namespace {

void softmax_row(const float* x, float* y, int64_t n, std::vector<double>& held) {
  const float top = *std::max_element(x, x + n);
  double sum = 0.0;
  for (int64_t j = 0; j < n; ++j) {
    held[j] = std::exp(static_cast<double>(x[j]) - top);
    sum += held[j];
  }
  for (int64_t j = 0; j < n; ++j) y[j] = static_cast<float>(held[j] / sum);
}

}  // namespace

extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N) {
  if (M == 0 || N == 0) return 0;
  int failed = 0;
#pragma omp parallel reduction(| : failed)
  {
    // An exception must not leave the region in which it was thrown.
    try {
      std::vector<double> held(N);
#pragma omp for nowait
      for (int64_t i = 0; i < M; ++i) softmax_row(x + i * N, y + i * N, N, held);
    } catch (const std::bad_alloc&) {
      failed = 1;
    }
  }
  return failed ? 12 : 0;
}
