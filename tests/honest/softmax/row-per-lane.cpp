// /// kernelwright
// strategy = "eight rows side by side, one a lane: tiles are turned on the way in and turned back on the way out"
// ///
#include <cmath>
#include <cstdint>

namespace {

constexpr int ROWS = 8, COLUMNS = 32;

struct Tile {
  float at[COLUMNS][ROWS];
};

inline void turn_in(const float* x, int64_t stride, int rows, int64_t columns, Tile& tile) {
  for (int64_t j = 0; j < columns; ++j)
    for (int r = 0; r < ROWS; ++r) tile.at[j][r] = x[(r < rows ? r : 0) * stride + j];
}

void strip(const float* x, float* y, int64_t n, int rows) {
  alignas(64) float top[ROWS], sum[ROWS];
  Tile tile;
  for (int r = 0; r < ROWS; ++r) top[r] = -INFINITY, sum[r] = 0.0f;
  for (int64_t j0 = 0; j0 < n; j0 += COLUMNS) {
    const int64_t columns = n - j0 < COLUMNS ? n - j0 : COLUMNS;
    turn_in(x + j0, n, rows, columns, tile);
    for (int64_t j = 0; j < columns; ++j)
#pragma omp simd
      for (int r = 0; r < ROWS; ++r) top[r] = tile.at[j][r] > top[r] ? tile.at[j][r] : top[r];
  }
  for (int64_t j0 = 0; j0 < n; j0 += COLUMNS) {
    const int64_t columns = n - j0 < COLUMNS ? n - j0 : COLUMNS;
    turn_in(x + j0, n, rows, columns, tile);
    for (int64_t j = 0; j < columns; ++j)
      for (int r = 0; r < ROWS; ++r) sum[r] += tile.at[j][r] = std::exp(tile.at[j][r] - top[r]);
    for (int r = 0; r < rows; ++r)
      for (int64_t j = 0; j < columns; ++j) y[r * n + j0 + j] = tile.at[j][r];
  }
  for (int r = 0; r < rows; ++r)
    for (int64_t j = 0; j < n; ++j) y[r * n + j] /= sum[r];
}

}  // namespace

extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; i += ROWS)
    strip(x + i * N, y + i * N, N, static_cast<int>(M - i < ROWS ? M - i : ROWS));
  return 0;
}
