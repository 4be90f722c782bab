// /// kernelwright
// strategy = "weight-dots: a small tile of outputs is a set of dot products of rows of x and rows of weight, both read in place"
// tune.ROWS = [5, 2, 4, 8]
// tune.COLS = [5, 2, 4]
// tune.BAND = [64, 16, 256]
// where = ["ROWS * COLS <= 25"]
// cures = ["memory bandwidth", "launch-bound"]
// ///
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

namespace {

typedef float Vec __attribute__((vector_size(LANES * 4)));

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

inline int64_t tiles(int64_t size, int64_t tile) { return (size + tile - 1) / tile; }

typedef float Quad __attribute__((vector_size(16)));

// Four lanes at a time, then across the four: a short chain of dependent additions.
inline float total(Vec v) {
  Quad x[LANES / 4];
  std::memcpy(x, &v, sizeof v);
#pragma GCC unroll 4
  for (int half = LANES / 8; half > 0; half /= 2) {
#pragma GCC unroll 4
    for (int i = 0; i < half; ++i) x[i] += x[i + half];
  }
  const Quad pair = x[0] + __builtin_shufflevector(x[0], x[0], 2, 3, 0, 1);
  return pair[0] + pair[1];
}

inline float finish(float sum, float bias, float divisor) {
  const float value = sum + bias;
  return (value < 0.0f ? 0.0f : value) / divisor;
}

// Rows and columns past the end repeat the last one; only what exists is written.
inline void dots(const float* x, const float* weight, const float* bias, float divisor, float* y, int64_t N, int64_t K,
                 int64_t rows, int64_t cols) {
  const float* row[ROWS];
  const float* col[COLS];
  for (int i = 0; i < ROWS; ++i) row[i] = x + least(i, rows - 1) * K;
  for (int j = 0; j < COLS; ++j) col[j] = weight + least(j, cols - 1) * K;
  Vec acc[ROWS][COLS] = {};
  int64_t k = 0;
  for (; k + LANES <= K; k += LANES) {
    Vec w[COLS];
#pragma GCC unroll 8
    for (int j = 0; j < COLS; ++j) w[j] = load(col[j] + k);
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; ++i) {
      const Vec in = load(row[i] + k);
#pragma GCC unroll 8
      for (int j = 0; j < COLS; ++j) acc[i][j] += in * w[j];
    }
  }
  float sum[ROWS][COLS];
#pragma GCC unroll 8
  for (int i = 0; i < ROWS; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < COLS; ++j) sum[i][j] = total(acc[i][j]);
  }
  for (int64_t i = 0; i < least(rows, ROWS); ++i) {
    for (int64_t j = 0; j < least(cols, COLS); ++j) {
      for (int64_t t = k; t < K; ++t) sum[i][j] += row[i][t] * col[j][t];
      y[i * N + j] = finish(sum[i][j], bias[j], divisor);
    }
  }
}

}  // namespace

extern "C" int linear_relu_div(const float* x, const float* weight, const float* bias, float* y, float divisor,
                               int64_t M, int64_t N, int64_t K) {
  const int64_t bands = tiles(N, BAND), row_tiles = tiles(M, ROWS);
  // A band of weight rows stays cached while the rows of x pass over it.
#pragma omp parallel for schedule(static)
  for (int64_t t = 0; t < bands * row_tiles; ++t) {
    const int64_t i = t % row_tiles * ROWS, j0 = t / row_tiles * BAND, j1 = least(j0 + BAND, N);
    for (int64_t j = j0; j < j1; j += COLS) {
      dots(x + i * K, weight + j * K, bias + j, divisor, y + i * N + j, N, K, M - i, j1 - j);
    }
  }
  return 0;
}
