// /// kernelwright
// strategy = "column tiles: the scales of a group of rows first, then tile by tile down the group, the tile of weights held in registers"
// tune.ROWS = [8, 2, 4, 16, 32]
// tune.TILE = [4, 2, 8, 16]
// tune.STREAM = [1, 0]
// tune.GRAIN = [0, 1]
// where = ["ROWS * cores <= max(M, 64)"]
// cures = ["memory bandwidth", "compute"]
// ///
// ROWS: rows of a group. TILE: vectors of a tile. STREAM: 1 to write past the caches. GRAIN: groups a dynamic task, 0
// for an even static split.
#include <cmath>
#include <cstdint>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace {
#if defined(__AVX512F__)
constexpr int LANES = 16;
#elif defined(__AVX2__)
constexpr int LANES = 8;
#else
constexpr int LANES = 4;
#endif
typedef float vec __attribute__((vector_size(LANES * 4)));
typedef float loose __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

#if GRAIN
#define SCHEDULE schedule(dynamic, GRAIN)
#else
#define SCHEDULE schedule(static)
#endif

// The first n lanes from memory, the others filled.
inline vec load(const float* p, int64_t n = LANES, float fill = 0.0f) {
  if (n >= LANES) return *reinterpret_cast<const loose*>(p);
  vec v = vec{} + fill;
  for (int64_t l = 0; l < n; ++l) v[l] = p[l];
  return v;
}

// Writes the first n lanes; a full vector bypasses the caches when STREAM is set (p is then aligned to a vector).
inline void put(float* p, vec v, int64_t n) {
  if (n < LANES) {
    for (int64_t l = 0; l < n; ++l) p[l] = v[l];
    return;
  }
#if STREAM && defined(__AVX512F__)
  _mm512_stream_ps(p, reinterpret_cast<__m512>(v));
#elif STREAM && defined(__AVX2__)
  _mm256_stream_ps(p, reinterpret_cast<__m256>(v));
#else
  *reinterpret_cast<loose*>(p) = v;
#endif
}

// Calls f(offset, lanes) over n elements; with STREAM the full vectors start at vector boundaries of out.
template <class F>
inline void write_row([[maybe_unused]] const float* out, int64_t n, F f) {
  int64_t j = 0;
#if STREAM
  const int64_t head = -(reinterpret_cast<intptr_t>(out) / 4) & (LANES - 1);
  j = head < n ? head : n;
  if (j) f(0, j);
#endif
  for (; j + LANES <= n; j += LANES) f(j, LANES);
  if (j < n) f(j, n - j);
}

// Sum of the lanes of v, as a tree.
inline float lane_sum(vec v) {
  float lanes[LANES];
  *reinterpret_cast<loose*>(lanes) = v;
  for (int width = LANES / 2; width; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
}

inline float row_scale(const float* x, float eps, int64_t n) {
  vec squares[4] = {};
  int64_t j = 0;
  for (; j + 4 * LANES <= n; j += 4 * LANES)
    for (int a = 0; a < 4; ++a) squares[a] += load(x + j + a * LANES) * load(x + j + a * LANES);
  for (; j < n; j += LANES) squares[0] += load(x + j, n - j) * load(x + j, n - j);
  const float sum = lane_sum((squares[0] + squares[1]) + (squares[2] + squares[3]));
  return 1.0f / std::sqrt(sum / static_cast<float>(n) + eps);
}

void rmsnorm_group(const float* x, const float* weight, float* y, float eps, int64_t rows, int64_t n) {
  float scale[ROWS];
  for (int64_t r = 0; r < rows; ++r) scale[r] = row_scale(x + r * n, eps, n);
  // With STREAM a tile must start at a vector boundary of every row, which needs rows of whole vectors.
  const bool boundary = !STREAM || (reinterpret_cast<uintptr_t>(y) % sizeof(vec) == 0 && n % LANES == 0);
  int64_t j = 0;
  for (; boundary && j + TILE * LANES <= n; j += TILE * LANES) {
    vec w[TILE];
    for (int t = 0; t < TILE; ++t) w[t] = load(weight + j + t * LANES);
    for (int64_t r = 0; r < rows; ++r)
      for (int t = 0; t < TILE; ++t) {
        const int64_t at = r * n + j + t * LANES;
        put(y + at, load(x + at) * scale[r] * w[t], LANES);
      }
  }
  for (int64_t r = 0; r < rows; ++r)
    write_row(y + r * n + j, n - j, [&](int64_t k, int64_t lanes) {
      put(y + r * n + j + k, load(x + r * n + j + k, lanes) * scale[r] * load(weight + j + k, lanes), lanes);
    });
}
}  // namespace

extern "C" int rmsnorm(const float* x, const float* weight, float* y, float eps, int64_t M, int64_t N) {
#pragma omp parallel for SCHEDULE
  for (int64_t first = 0; first < M; first += ROWS)
    rmsnorm_group(x + first * N, weight, y + first * N, eps, M - first < ROWS ? M - first : ROWS, N);
  return 0;
}
