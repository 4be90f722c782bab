// /// kernelwright
// strategy = "column-dots: b is transposed once, then small tiles of c are dot products along the depth"
// tune.ROWS = [5, 2, 4]
// tune.COLS = [5, 2, 4]
// tune.BAND = [64, 16]
// cures = ["memory latency"]
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

// Blocks of 16 columns keep whole cache lines of b in use while their transpose is written.
inline void transpose(const float* b, int64_t N, int64_t j0, int64_t j1, int64_t k0, int64_t k1, int64_t K, float* bt) {
  for (int64_t j = j0; j < j1; j += 16) {
    for (int64_t k = k0; k < k1; ++k) {
      for (int64_t n = j; n < least(j + 16, j1); ++n) bt[n * K + k] = b[k * N + n];
    }
  }
}

// Rows and columns past the end repeat the last one; only what exists is written.
inline void dots(const float* a, const float* bt, float* c, int64_t N, int64_t K, int64_t rows, int64_t cols) {
  const float* row[ROWS];
  const float* col[COLS];
  for (int i = 0; i < ROWS; ++i) row[i] = a + least(i, rows - 1) * K;
  for (int j = 0; j < COLS; ++j) col[j] = bt + least(j, cols - 1) * K;
  Vec acc[ROWS][COLS] = {};
  int64_t k = 0;
  for (; k + LANES <= K; k += LANES) {
    Vec x[COLS];
#pragma GCC unroll 8
    for (int j = 0; j < COLS; ++j) x[j] = load(col[j] + k);
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; ++i) {
      const Vec y = load(row[i] + k);
#pragma GCC unroll 8
      for (int j = 0; j < COLS; ++j) acc[i][j] += y * x[j];
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
      c[i * N + j] = sum[i][j];
    }
  }
}

}  // namespace

extern "C" int64_t matmul_workspace(int64_t, int64_t N, int64_t K) { return N * K * 4 + 4; }

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K, void* workspace) {
  float* bt = static_cast<float*>(workspace);
  const int64_t bands = (N + BAND - 1) / BAND, row_tiles = (M + ROWS - 1) / ROWS;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int64_t j = 0; j < N; j += 16) transpose(b, N, j, least(j + 16, N), 0, K, K, bt);
    // A band of transposed columns stays cached while the rows of a pass over it.
#pragma omp for schedule(static)
    for (int64_t t = 0; t < bands * row_tiles; ++t) {
      const int64_t i = t % row_tiles * ROWS, j0 = t / row_tiles * BAND, j1 = least(j0 + BAND, N);
      for (int64_t j = j0; j < j1; j += COLS) dots(a + i * K, bt + j * K, c + i * N + j, N, K, M - i, j1 - j);
    }
  }
  return 0;
}
