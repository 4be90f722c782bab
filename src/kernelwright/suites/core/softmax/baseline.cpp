// Three plain passes over each row: maximum, sum of exponentials, division.
#include <cmath>
#include <cstdint>

extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    const float* row = x + i * N;
    float* out = y + i * N;
    float largest = -INFINITY;
    for (int64_t j = 0; j < N; ++j)
      if (row[j] > largest || std::isnan(row[j])) largest = row[j];
    float sum = 0.0f;
    for (int64_t j = 0; j < N; ++j) {
      out[j] = std::exp(row[j] - largest);
      sum += out[j];
    }
    for (int64_t j = 0; j < N; ++j) out[j] /= sum;
  }
  return 0;
}
