// /// kernelwright
// strategy = "two outputs from one search"
// ///
#include <cmath>
#include <cstdint>

extern "C" int row_extremes(const float* x, float* weights, int64_t* best) {
  constexpr int64_t M = 96, N = 1000;
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    const float* row = x + i * N;
    int64_t top = 0;
    for (int64_t j = 1; j < N; ++j)
      if (row[j] > row[top]) top = j;
    float total = 0;
    for (int64_t j = 0; j < N; ++j) total += weights[i * N + j] = std::exp(row[j] - row[top]);
    for (int64_t j = 0; j < N; ++j) weights[i * N + j] /= total;
    best[i] = top;
  }
  return 0;
}
