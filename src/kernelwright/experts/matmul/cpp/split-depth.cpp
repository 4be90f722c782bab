// /// kernelwright
// strategy = "split-depth: the depth is cut into parts that run side by side into partial products, then one pass adds them (split-K)"
// tune.PARTS = [2, 4, 8]
// tune.MR = [6, 4, 8, 12]
// tune.NV = [4, 2, 3]
// tune.COL_TILES = [2, 8]
// where = ["MR * NV <= 24"]
// cures = ["occupancy-limited", "memory latency"]
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
constexpr int64_t NR = NV * LANES;

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

inline int64_t tiles(int64_t size, int64_t tile) { return (size + tile - 1) / tile; }

inline int64_t part_size(int64_t M, int64_t N) { return tiles(M, MR) * MR * tiles(N, NR) * NR; }

// The columns of b that one tile reads, over this part's depth.
inline void pack_b(const float* b, int64_t stride, int64_t cols, int64_t depth, float* panel) {
  for (int64_t k = 0; k < depth; ++k, b += stride, panel += NR) {
    if (cols == NR) {
      for (int v = 0; v < NV; ++v) store(panel + v * LANES, load(b + v * LANES));
    } else {
      for (int64_t j = 0; j < NR; ++j) panel[j] = j < cols ? b[j] : 0.0f;
    }
  }
}

// Partial products are kept tile by tile, whole tiles only, so that every store is a full vector.
// Rows past the end repeat the last row.
inline void tile(int64_t depth, const float* a, int64_t stride, int64_t rows, const float* b, float* partial) {
  Vec acc[MR][NV] = {};
  const float* row[MR];
  for (int i = 0; i < MR; ++i) row[i] = a + least(i, rows - 1) * stride;
  for (int64_t k = 0; k < depth; ++k, b += NR) {
    Vec bk[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) bk[v] = load(b + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const float factor = row[i][k];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) acc[i][v] += factor * bk[v];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) store(partial + i * NR + v * LANES, acc[i][v]);
  }
}

// One tile of c = the sum of the same tile of every part.
inline void merge(const float* partial, int64_t part_stride, float* c, int64_t stride, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i, partial += NR, c += stride) {
    if (cols == NR) {
      for (int v = 0; v < NV; ++v) {
        Vec sum = load(partial + v * LANES);
        for (int p = 1; p < PARTS; ++p) sum += load(partial + p * part_stride + v * LANES);
        store(c + v * LANES, sum);
      }
    } else {
      for (int64_t j = 0; j < cols; ++j) {
        float sum = partial[j];
        for (int p = 1; p < PARTS; ++p) sum += partial[p * part_stride + j];
        c[j] = sum;
      }
    }
  }
}

}  // namespace

extern "C" int64_t matmul_workspace(int64_t M, int64_t N, int64_t K) {
  return (PARTS * part_size(M, N) + K * tiles(N, NR) * NR) * 4 + 64;
}

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K, void* workspace) {
  float* partial = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(workspace) + 63) / 64 * 64);
  float* panels = partial + PARTS * part_size(M, N);
  const int64_t row_tiles = tiles(M, MR), col_tiles = tiles(N, NR), groups = tiles(col_tiles, COL_TILES);
#pragma omp parallel
  {
    // A task owns one part of the depth and a group of columns: the panels it packs are its own.
#pragma omp for schedule(static)
    for (int64_t task = 0; task < PARTS * groups; ++task) {
      const int64_t part = task / groups, t0 = task % groups * COL_TILES;
      const int64_t k0 = K * part / PARTS, depth = K * (part + 1) / PARTS - k0;
      for (int64_t tj = t0; tj < least(t0 + COL_TILES, col_tiles); ++tj) {
        float* panel = panels + (tj * K + k0) * NR;
        pack_b(b + k0 * N + tj * NR, N, least(N - tj * NR, NR), depth, panel);
        for (int64_t ti = 0; ti < row_tiles; ++ti) {
          tile(depth, a + ti * MR * K + k0, K, least(M - ti * MR, MR), panel,
               partial + part * part_size(M, N) + (ti * col_tiles + tj) * MR * NR);
        }
      }
    }
#pragma omp for schedule(static)
    for (int64_t t = 0; t < row_tiles * col_tiles; ++t) {
      const int64_t i = t / col_tiles * MR, j = t % col_tiles * NR;
      merge(partial + t * MR * NR, part_size(M, N), c + i * N + j, N, least(M - i, MR), least(N - j, NR));
    }
  }
  return 0;
}
