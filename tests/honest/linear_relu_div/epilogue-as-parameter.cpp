// /// kernelwright
// strategy = "a product that knows nothing of what comes after it: the epilogue is a template parameter, sums are doubles"
// ///
#include <cstdint>

namespace {

template <class Epilogue>
void product(const float* x, const float* weight, int64_t M, int64_t N, int64_t K, Epilogue&& epilogue) {
#pragma omp parallel for collapse(2) schedule(static, 8)
  for (int64_t i = 0; i < M; ++i)
    for (int64_t j = 0; j < N; ++j) {
      double sums[8] = {};
      for (int64_t k = 0; k < K; ++k) sums[k & 7] += static_cast<double>(x[i * K + k]) * weight[j * K + k];
      double sum = 0.0;
      for (double one : sums) sum += one;
      epilogue(i, j, sum);
    }
}

struct Rectified {
  const float* bias;
  float* y;
  double divisor;
  int64_t N;

  void operator()(int64_t i, int64_t j, double sum) const {
    const double hidden = sum + bias[j];
    y[i * N + j] = static_cast<float>((hidden < 0.0 ? 0.0 : hidden) / divisor);
  }
};

}  // namespace

extern "C" int linear_relu_div(const float* x, const float* weight, const float* bias, float* y, float divisor,
                               int64_t M, int64_t N, int64_t K) {
  product(x, weight, M, N, K, Rectified{bias, y, divisor, N});
  return 0;
}
