// /// kernelwright
// strategy = "OpenMP sections: one sums the left half of a row, the other the right; few wide rows keep two cores busy"
// ///
#include <cmath>
#include <cstdint>

namespace {

double sum_of(const float* x, int64_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < n; ++j) sum += x[j];
  return sum;
}

double squares_of(const float* x, int64_t n, float mean) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (int64_t j = 0; j < n; ++j) sum += (x[j] - mean) * (x[j] - mean);
  return sum;
}

}  // namespace

extern "C" int layernorm(const float* x, const float* weight, const float* bias, float* y, float eps, int64_t M,
                         int64_t N) {
  const int64_t half = N / 2;
  double left = 0.0, right = 0.0;
  float mean = 0.0f, scale = 0.0f;
#pragma omp parallel
  for (int64_t i = 0; i < M; ++i) {
    const float* row = x + i * N;
#pragma omp sections
    {
#pragma omp section
      left = sum_of(row, half);
#pragma omp section
      right = sum_of(row + half, N - half);
    }
#pragma omp single
    mean = static_cast<float>((left + right) / static_cast<double>(N));
#pragma omp sections
    {
#pragma omp section
      left = squares_of(row, half, mean);
#pragma omp section
      right = squares_of(row + half, N - half, mean);
    }
#pragma omp single
    scale = static_cast<float>(1.0 / std::sqrt((left + right) / static_cast<double>(N) + eps));
#pragma omp for
    for (int64_t j = 0; j < N; ++j) y[i * N + j] = (row[j] - mean) * scale * weight[j] + bias[j];
  }
  return 0;
}
