// Three plain passes over each row.
#include <cmath>
#include <cstdint>

extern "C" int moments(const float* x, float* mean, float* variance, float* least, float* largest, int64_t* place,
                       int64_t M, int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    const float* row = x + i * N;
    float sum = 0.0f, squares = 0.0f, low = row[0], high = row[0];
    int64_t at = 0;
    for (int64_t j = 0; j < N; ++j) sum += row[j];
    mean[i] = sum / static_cast<float>(N);
    for (int64_t j = 0; j < N; ++j) squares += (row[j] - mean[i]) * (row[j] - mean[i]);
    variance[i] = squares / static_cast<float>(N);
    for (int64_t j = 0; j < N; ++j) {
      if (row[j] < low || std::isnan(row[j])) low = row[j];
      if (!std::isnan(high) && (row[j] > high || std::isnan(row[j]))) high = row[j], at = j;
    }
    least[i] = low, largest[i] = high, place[i] = at;
  }
  return 0;
}
