// /// kernelwright
// strategy = "the depth is cut in four, partial results lie in the workspace, an epilogue adds, rectifies and divides"
// ///
#include <cmath>
#include <cstdint>

namespace {
constexpr int64_t CUTS = 4;
}

extern "C" int64_t linear_relu_div_workspace(int64_t M, int64_t N, int64_t) {
  return CUTS * M * N * static_cast<int64_t>(sizeof(float)) + 64;
}

extern "C" int linear_relu_div(const float* x, const float* weight, const float* bias, float* y, float divisor,
                               int64_t M, int64_t N, int64_t K, void* workspace) {
  auto* partial = static_cast<float*>(workspace);
#pragma omp parallel
  {
#pragma omp for collapse(2) schedule(static)
    for (int64_t cut = 0; cut < CUTS; ++cut)
      for (int64_t j = 0; j < N; ++j) {
        const int64_t from = K * cut / CUTS, until = K * (cut + 1) / CUTS;
        for (int64_t i = 0; i < M; ++i) {
          float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
          for (int64_t k = from; k < until; ++k) sum += x[i * K + k] * weight[j * K + k];
          partial[(cut * M + i) * N + j] = sum;
        }
      }
#pragma omp for
    for (int64_t at = 0; at < M * N; ++at) {
      float sum = bias[at % N];
      for (int64_t cut = 0; cut < CUTS; ++cut) sum += partial[cut * M * N + at];
      y[at] = (std::isnan(sum) || sum > 0.0f ? sum : 0.0f) / divisor;
    }
  }
  return 0;
}
