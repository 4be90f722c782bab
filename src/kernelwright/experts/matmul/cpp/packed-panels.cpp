// /// kernelwright
// strategy = "packed-panels: both operands repacked into panels sized for the caches, then a register tile over each pair"
// tune.MR = [8, 6, 12, 14]
// tune.NV = [3, 1, 2, 4]
// tune.KC = [384, 96, 192]
// tune.ROW_TILES = [4, 8, 16]
// tune.NC = [512, 192]
// where = ["MR * NV <= 28", "MR * NV >= 12"]
// cures = ["compute", "memory bandwidth"]
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
constexpr int64_t NC_TILES = (NC + NR - 1) / NR;

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

inline int64_t tiles(int64_t size, int64_t tile) { return (size + tile - 1) / tile; }

// MR rows of a, depth by depth: panel[k][i]. Rows that do not exist become zeros.
inline void pack_a(const float* a, int64_t stride, int64_t rows, int64_t depth, float* panel) {
  for (int64_t i = 0; i < MR; ++i) {
    for (int64_t k = 0; k < depth; ++k) panel[k * MR + i] = i < rows ? a[i * stride + k] : 0.0f;
  }
}

inline void pack_b(const float* b, int64_t stride, int64_t cols, int64_t depth, float* panel) {
  for (int64_t k = 0; k < depth; ++k, b += stride, panel += NR) {
    if (cols == NR) {
      for (int v = 0; v < NV; ++v) store(panel + v * LANES, load(b + v * LANES));
    } else {
      for (int64_t j = 0; j < NR; ++j) panel[j] = j < cols ? b[j] : 0.0f;
    }
  }
}

inline void tile(int64_t depth, const float* a, const float* b, float* c, int64_t stride, int64_t rows, int64_t cols,
                 bool add) {
  Vec acc[MR][NV] = {};
  for (int64_t k = 0; k < depth; ++k, a += MR, b += NR) {
    Vec bk[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) bk[v] = load(b + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const float factor = a[i];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) acc[i][v] += factor * bk[v];
    }
  }
  if (rows == MR && cols == NR) {
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

inline int64_t packed_a(int64_t M, int64_t K) { return tiles(M, MR) * MR * least(K, KC); }

inline int64_t packed_b(int64_t N, int64_t K) { return least(tiles(N, NR), NC_TILES) * NR * least(K, KC); }

}  // namespace

extern "C" int64_t matmul_workspace(int64_t M, int64_t N, int64_t K) {
  return (packed_a(M, K) + packed_b(N, K)) * 4 + 128;
}

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K, void* workspace) {
  float* b_panels = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(workspace) + 63) / 64 * 64);
  float* a_panels = b_panels + (packed_b(N, K) + 15) / 16 * 16;
  const int64_t row_tiles = tiles(M, MR), row_blocks = tiles(row_tiles, ROW_TILES);
#pragma omp parallel
  for (int64_t j0 = 0; j0 < N; j0 += NC_TILES * NR) {
    const int64_t col_tiles = least(NC_TILES, tiles(N - j0, NR));
    for (int64_t k0 = 0; k0 == 0 || k0 < K; k0 += KC) {
      const int64_t depth = least(K - k0, KC);
#pragma omp for schedule(static) nowait
      for (int64_t t = 0; t < row_tiles; ++t) {
        pack_a(a + t * MR * K + k0, K, least(M - t * MR, MR), depth, a_panels + t * MR * depth);
      }
#pragma omp for schedule(static)
      for (int64_t t = 0; t < col_tiles; ++t) {
        const int64_t j = j0 + t * NR;
        pack_b(b + k0 * N + j, N, least(N - j, NR), depth, b_panels + t * NR * depth);
      }
      // A panel of b stays in the first-level cache while a block of packed rows passes over it.
#pragma omp for schedule(static)
      for (int64_t task = 0; task < row_blocks * col_tiles; ++task) {
        const int64_t t0 = task / col_tiles * ROW_TILES, tj = task % col_tiles, j = j0 + tj * NR;
        for (int64_t t = t0; t < least(t0 + ROW_TILES, row_tiles); ++t) {
          tile(depth, a_panels + t * MR * depth, b_panels + tj * NR * depth, c + t * MR * N + j, N,
               least(M - t * MR, MR), least(N - j, NR), k0 > 0);
        }
      }
    }
  }
  return 0;
}
