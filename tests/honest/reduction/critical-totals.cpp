// /// kernelwright
// strategy = "every thread sums a stretch of every row in double and adds it to the row's total in a critical section"
// ///
#include <omp.h>

#include <cstdint>
#include <vector>

extern "C" int reduction(const float* x, float* y, int64_t M, int64_t N) {
  std::vector<double> totals(M, 0.0);
#pragma omp parallel
  {
    const int64_t me = omp_get_thread_num(), all = omp_get_num_threads();
    const int64_t from = N * me / all, until = N * (me + 1) / all;
    std::vector<double> mine(M, 0.0);
    for (int64_t i = 0; i < M; ++i) {
      double sum = 0.0;
#pragma omp simd reduction(+ : sum)
      for (int64_t j = from; j < until; ++j) sum += x[i * N + j];
      mine[i] = sum;
    }
#pragma omp critical(totals)
    for (int64_t i = 0; i < M; ++i) totals[i] += mine[i];
  }
  for (int64_t i = 0; i < M; ++i) y[i] = static_cast<float>(totals[i]);
  return 0;
}
