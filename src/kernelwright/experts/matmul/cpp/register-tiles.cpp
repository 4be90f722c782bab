// /// kernelwright
// strategy = "register-tiles: a tile of c stays in registers while a and b are read in place, nothing packed"
// tune.MR = [6, 2, 4, 8, 12]
// tune.NV = [4, 1, 2, 3]
// tune.KC = [512, 128]
// tune.ROWS_FIRST = [1, 0]
// where = ["MR * NV <= 24"]
// cures = ["memory latency", "compute"]
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
constexpr int NR = NV * LANES;

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }

struct Matrix {
  const float* at;
  int64_t stride;
};

// One MR x NR tile over `depth`. A ragged tile reads its last row again for the rows that do not
// exist, and writes only what does.
template <bool FULL>
inline void tile(int64_t depth, Matrix a, Matrix b, float* c, int64_t stride, int64_t rows, int64_t cols, bool add) {
  Vec acc[MR][NV] = {};
  const float* row[MR];
  for (int i = 0; i < MR; ++i) row[i] = a.at + (FULL || i < rows ? i : rows - 1) * a.stride;
  for (int64_t k = 0; k < depth; ++k) {
    Vec bk[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) bk[v] = load(b.at + k * b.stride + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const float factor = row[i][k];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) acc[i][v] += factor * bk[v];
    }
  }
  if (FULL) {
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) {
        float* p = c + i * stride + v * LANES;
        store(p, add ? load(p) + acc[i][v] : acc[i][v]);
      }
    }
    return;
  }
  float spill[MR][NR];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) store(&spill[i][v * LANES], acc[i][v]);
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) c[i * stride + j] = (add ? c[i * stride + j] : 0.0f) + spill[i][j];
  }
}

// The last columns of b, widened with zeros to NR so that whole vectors can be read.
inline void widen(int64_t depth, Matrix b, int64_t cols, float* panel) {
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t j = 0; j < NR; ++j) panel[k * NR + j] = j < cols ? b.at[k * b.stride + j] : 0.0f;
  }
}

}  // namespace

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  const int64_t row_tiles = (M + MR - 1) / MR, col_tiles = (N + NR - 1) / NR;
#pragma omp parallel
  {
    float panel[KC * NR];
    for (int64_t k0 = 0; k0 == 0 || k0 < K; k0 += KC) {
      const int64_t depth = K - k0 < KC ? K - k0 : KC;
      int64_t widened = -1;  // the column tile that panel holds
      // A static schedule gives a thread the same tiles in every pass, so no barrier is needed.
#pragma omp for schedule(static) nowait
      for (int64_t t = 0; t < row_tiles * col_tiles; ++t) {
        const int64_t ti = ROWS_FIRST ? t % row_tiles : t / col_tiles;
        const int64_t tj = ROWS_FIRST ? t / row_tiles : t % col_tiles;
        const int64_t i = ti * MR, j = tj * NR;
        const int64_t rows = M - i < MR ? M - i : MR, cols = N - j < NR ? N - j : NR;
        const Matrix left = {a + i * K + k0, K};
        Matrix right = {b + k0 * N + j, N};
        if (cols < NR) {
          if (widened != tj) widen(depth, right, cols, panel);
          widened = tj;
          right = {panel, NR};
        }
        float* out = c + i * N + j;
        if (rows == MR && cols == NR) {
          tile<true>(depth, left, right, out, N, rows, cols, k0 > 0);
        } else {
          tile<false>(depth, left, right, out, N, rows, cols, k0 > 0);
        }
      }
    }
  }
  return 0;
}
