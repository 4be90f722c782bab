// /// kernelwright
// strategy = "an OpenMP taskloop over blocks of rows; inside a row, means of tiles are merged by a template of their size"
// ///
#include <cmath>
#include <cstdint>

namespace {

struct Summary {
  double mean = 0.0, squares = 0.0;
  int64_t count = 0;

  void add(double other_mean, double other_squares, int64_t other_count) {
    const int64_t both = count + other_count;
    const double apart = other_mean - mean;
    squares += other_squares + apart * apart * static_cast<double>(count) * other_count / both;
    mean += apart * static_cast<double>(other_count) / both;
    count = both;
  }
};

template <int TILE>
int64_t tiles(const float* x, int64_t n, Summary& summary) {
  int64_t j = 0;
  for (; j + TILE <= n; j += TILE) {
    float sum = 0.0f, squares = 0.0f;
    for (int l = 0; l < TILE; ++l) sum += x[j + l];
    const float mean = sum / TILE;
    for (int l = 0; l < TILE; ++l) squares += (x[j + l] - mean) * (x[j + l] - mean);
    summary.add(mean, squares, TILE);
  }
  return j;
}

void rows(const float* x, const float* weight, const float* bias, float* y, float eps, int64_t count, int64_t n) {
  for (int64_t i = 0; i < count; ++i, x += n, y += n) {
    Summary summary;
    int64_t done = tiles<256>(x, n, summary);
    done += tiles<16>(x + done, n - done, summary);
    tiles<1>(x + done, n - done, summary);
    const float mean = static_cast<float>(summary.mean);
    const float scale = static_cast<float>(1.0 / std::sqrt(summary.squares / static_cast<double>(n) + eps));
    for (int64_t j = 0; j < n; ++j) y[j] = (x[j] - mean) * scale * weight[j] + bias[j];
  }
}

}  // namespace

extern "C" int layernorm(const float* x, const float* weight, const float* bias, float* y, float eps, int64_t M,
                         int64_t N) {
  constexpr int64_t BLOCK = 16;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
  for (int64_t i = 0; i < M; i += BLOCK)
    rows(x + i * N, weight, bias, y + i * N, eps, M - i < BLOCK ? M - i : BLOCK, N);
  return 0;
}
