// /// kernelwright
// strategy = "two tasks for a block of rows: one for the moments, one for the extremes"
// ///
#include <cmath>
#include <cstdint>

namespace {

void averages(const float* x, float* mean, float* variance, int64_t rows, int64_t n) {
  for (int64_t i = 0; i < rows; ++i, x += n) {
    double sum = 0.0, squares = 0.0;
    for (int64_t j = 0; j < n; ++j) sum += x[j];
    const double m = sum / static_cast<double>(n);
    for (int64_t j = 0; j < n; ++j) squares += (x[j] - m) * (x[j] - m);
    mean[i] = static_cast<float>(m);
    variance[i] = static_cast<float>(squares / static_cast<double>(n));
  }
}

void extremes(const float* x, float* least, float* largest, int64_t* place, int64_t rows, int64_t n) {
  for (int64_t i = 0; i < rows; ++i, x += n) {
    int64_t low = 0, high = 0;
    for (int64_t j = 1; j < n && !std::isnan(x[high]); ++j) {
      if (std::isnan(x[j])) low = high = j;
      else {
        if (x[j] < x[low]) low = j;
        if (x[j] > x[high]) high = j;
      }
    }
    if (std::isnan(x[high])) low = high;
    least[i] = x[low], largest[i] = x[high], place[i] = high;
  }
}

}  // namespace

extern "C" int moments(const float* x, float* mean, float* variance, float* least, float* largest, int64_t* place,
                       int64_t M, int64_t N) {
  constexpr int64_t BLOCK = 8;
#pragma omp parallel
#pragma omp single
  for (int64_t i = 0; i < M; i += BLOCK) {
    const int64_t rows = M - i < BLOCK ? M - i : BLOCK;
#pragma omp task
    averages(x + i * N, mean + i, variance + i, rows, N);
#pragma omp task
    extremes(x + i * N, least + i, largest + i, place + i, rows, N);
  }
  return 0;
}
