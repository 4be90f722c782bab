// /// kernelwright
// strategy = "2 x 4 dot products at a time in vector registers, bias and rectifier applied as they leave"
// ///
#include <cstdint>

namespace {

typedef float vec __attribute__((vector_size(64)));
typedef float loose __attribute__((vector_size(64), aligned(4), may_alias));
constexpr int64_t LANES = 16;

inline vec get(const float* p) { return *reinterpret_cast<const loose*>(p); }

inline float across(vec v) {
  float s[4] = {};
  for (int l = 0; l < LANES; ++l) s[l & 3] += v[l];
  return (s[0] + s[1]) + (s[2] + s[3]);
}

inline float finish(float v, float bias, float divisor) {
  v += bias;
  return (v < 0.0f ? 0.0f : v) / divisor;
}

template <int I, int J>
void dots(const float* x, const float* w, const float* bias, float* y, float divisor, int64_t N, int64_t K) {
  vec sums[I][J] = {};
  int64_t k = 0;
  for (; k + LANES <= K; k += LANES)
    for (int i = 0; i < I; ++i)
      for (int j = 0; j < J; ++j) sums[i][j] += get(x + i * K + k) * get(w + j * K + k);
  for (int i = 0; i < I; ++i)
    for (int j = 0; j < J; ++j) {
      float sum = across(sums[i][j]);
      for (int64_t t = k; t < K; ++t) sum += x[i * K + t] * w[j * K + t];
      y[i * N + j] = finish(sum, bias[j], divisor);
    }
}

}  // namespace

extern "C" int linear_relu_div(const float* x, const float* weight, const float* bias, float* y, float divisor,
                               int64_t M, int64_t N, int64_t K) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t j = 0; j < N; j += 4) {
    const float* w = weight + j * K;
    int64_t i = 0;
    if (j + 4 <= N) {
      for (; i + 2 <= M; i += 2) dots<2, 4>(x + i * K, w, bias + j, y + i * N + j, divisor, N, K);
      for (; i < M; ++i) dots<1, 4>(x + i * K, w, bias + j, y + i * N + j, divisor, N, K);
      continue;
    }
    for (; i < M; ++i)
      for (int64_t t = j; t < N; ++t)
        dots<1, 1>(x + i * K, weight + t * K, bias + t, y + i * N + t, divisor, N, K);
  }
  return 0;
}
