// /// kernelwright
// strategy = "Welford's running mean in eight lanes, which are merged two by two at the end"
// ///
#include <cmath>
#include <cstdint>

namespace {

constexpr int LANES = 8;

struct Moments {
  float count, mean, squares;  // squares: sum of squared distances from the mean
};

Moments merge(Moments a, Moments b) {
  const float count = a.count + b.count;
  if (count == 0.0f) return a;
  const float apart = b.mean - a.mean;
  const float share = b.count / count;
  return {count, a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share};
}

Moments moments(const float* x, int64_t n) {
  float mean[LANES] = {}, squares[LANES] = {};
  const int64_t rounds = n / LANES;
  for (int64_t t = 0; t < rounds; ++t) {
    const float inverse = 1.0f / static_cast<float>(t + 1);
#pragma omp simd
    for (int l = 0; l < LANES; ++l) {
      const float v = x[t * LANES + l], before = v - mean[l];
      mean[l] += before * inverse;
      squares[l] += before * (v - mean[l]);
    }
  }
  Moments lanes[LANES];
  for (int l = 0; l < LANES; ++l) lanes[l] = {static_cast<float>(rounds), mean[l], squares[l]};
  for (int width = LANES / 2; width; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] = merge(lanes[l], lanes[l + width]);
  for (int64_t j = rounds * LANES; j < n; ++j) lanes[0] = merge(lanes[0], {1.0f, x[j], 0.0f});
  return lanes[0];
}

}  // namespace

extern "C" int layernorm(const float* x, const float* weight, const float* bias, float* y, float eps, int64_t M,
                         int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    const float* row = x + i * N;
    const Moments m = moments(row, N);
    const float scale = 1.0f / std::sqrt(m.squares / static_cast<float>(N) + eps);
    for (int64_t j = 0; j < N; ++j) y[i * N + j] = (row[j] - m.mean) * scale * weight[j] + bias[j];
  }
  return 0;
}
