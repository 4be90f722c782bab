// /// kernelwright
// strategy = "row block: several rows advance together, each with its own accumulators; for many rows"
// tune.ROWS = [4, 2, 8]
// tune.UNROLL = [2, 1, 4]
// tune.GRAIN = [0, 1]
// where = ["ROWS <= M"]
// cures = ["memory latency", "compute"]
// ///
// ROWS: rows of a block. UNROLL: vectors of each row in a step. GRAIN: blocks a dynamic task, 0 for an even static
// split.
#include <cstdint>

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

// Sum of the lanes of v, as a tree.
inline float lane_sum(vec v) {
  float lanes[LANES];
  *reinterpret_cast<loose*>(lanes) = v;
  for (int width = LANES / 2; width; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
}

template <int COUNT>
inline void sum_rows(const float* x, float* y, int64_t n) {
  vec sums[COUNT][UNROLL] = {};
  int64_t j = 0;
  for (; j + UNROLL * LANES <= n; j += UNROLL * LANES)
    for (int r = 0; r < COUNT; ++r)
      for (int u = 0; u < UNROLL; ++u) sums[r][u] += load(x + r * n + j + u * LANES);
  for (; j < n; j += LANES)
    for (int r = 0; r < COUNT; ++r) sums[r][0] += load(x + r * n + j, n - j);
  for (int r = 0; r < COUNT; ++r) {
    vec sum = sums[r][0];
    for (int u = 1; u < UNROLL; ++u) sum += sums[r][u];
    y[r] = lane_sum(sum);
  }
}
}  // namespace

extern "C" int reduction(const float* x, float* y, int64_t M, int64_t N) {
#pragma omp parallel for SCHEDULE
  for (int64_t b = 0; b < M / ROWS; ++b) sum_rows<ROWS>(x + b * ROWS * N, y + b * ROWS, N);
  for (int64_t i = M / ROWS * ROWS; i < M; ++i) sum_rows<1>(x + i * N, y + i, N);
  return 0;
}
