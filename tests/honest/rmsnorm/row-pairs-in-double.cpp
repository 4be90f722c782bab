// /// kernelwright
// strategy = "two rows at a time share every load of the weights; squares are summed in double"
// ///
#include <cmath>
#include <cstdint>

namespace {

template <int ROWS>
void rows(const float* x, const float* weight, float* y, double eps, int64_t n) {
  double squares[ROWS] = {};
  for (int64_t j = 0; j < n; ++j)
    for (int r = 0; r < ROWS; ++r) squares[r] += static_cast<double>(x[r * n + j]) * x[r * n + j];
  float scale[ROWS];
  for (int r = 0; r < ROWS; ++r) scale[r] = static_cast<float>(1.0 / std::sqrt(squares[r] / n + eps));
  for (int64_t j = 0; j < n; ++j) {
    const float w = weight[j];
    for (int r = 0; r < ROWS; ++r) y[r * n + j] = x[r * n + j] * scale[r] * w;
  }
}

}  // namespace

extern "C" int rmsnorm(const float* x, const float* weight, float* y, float eps, int64_t M, int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; i += 2) {
    if (i + 1 < M) rows<2>(x + i * N, weight, y + i * N, eps, N);
    else rows<1>(x + i * N, weight, y + i * N, eps, N);
  }
  return 0;
}
