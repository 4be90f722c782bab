// /// kernelwright
// strategy = "row block: several rows advance together, so that their reductions are independent chains without extra accumulators"
// tune.ROWS = [2, 4, 8]
// tune.UNROLL = [2, 1, 4]
// tune.GRAIN = [0, 1, 4]
// where = ["ROWS * max(GRAIN, 1) * cores <= max(M, 16)"]
// cures = ["memory latency", "compute"]
// ///
// ROWS: rows of a block. UNROLL: vectors of each row in a step. GRAIN: blocks a dynamic task, 0 for an even static
// split.
#include <cfloat>
#include <cmath>
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
typedef int32_t ivec __attribute__((vector_size(LANES * 4)));
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

inline void store(float* p, vec v, int64_t n = LANES) {
  if (n >= LANES) *reinterpret_cast<loose*>(p) = v;
  else
    for (int64_t l = 0; l < n; ++l) p[l] = v[l];
}

inline vec larger(vec a, vec b) { return a > b ? a : b; }

// exp(x) for x <= 0 to about one unit in the last place; 0 below the smallest normal number; NaN stays NaN.
inline vec exponential(vec x) {
  const vec t = x * 1.44269504f + 12582912.0f;  // the low bits now hold round(x / ln 2)
  const vec n = t - 12582912.0f;
  const vec f = x - n * 0.693359375f + n * 2.12194440e-4f;
  const vec q = 0.49999994f + f * (0.1666652f + f * (0.041668393f + f * (0.008368781f + f * 0.0013814467f)));
  const ivec power = (reinterpret_cast<ivec>(t) << 23) + 0x3f800000;
  return x < -87.0f ? vec{} : (1.0f + (f + f * f * q)) * reinterpret_cast<vec>(power);
}

// Sum of the lanes of v, as a tree.
inline float lane_sum(vec v) {
  float lanes[LANES];
  *reinterpret_cast<loose*>(lanes) = v;
  for (int width = LANES / 2; width; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
}

inline float lane_maximum(vec v) {
  float top = v[0];
  for (int l = 1; l < LANES; ++l) top = v[l] > top ? v[l] : top;
  return top;
}

// Calls f(offset, lanes) over n elements.
template <class F>
inline void sweep(int64_t n, F f) {
  int64_t j = 0;
  for (; j + UNROLL * LANES <= n; j += UNROLL * LANES)
    for (int u = 0; u < UNROLL; ++u) f(j + u * LANES, LANES);
  for (; j + LANES <= n; j += LANES) f(j, LANES);
  if (j < n) f(j, n - j);
}

template <int COUNT>
inline void softmax_rows(const float* x, float* y, int64_t n) {
  vec best[COUNT], sums[COUNT] = {};
  float scale[COUNT], top[COUNT];
  for (vec& b : best) b = vec{} - FLT_MAX;  // finite, so that a row of -inf still ends as NaN
  sweep(n, [&](int64_t j, int64_t lanes) {
    for (int r = 0; r < COUNT; ++r) best[r] = larger(best[r], load(x + r * n + j, lanes, -FLT_MAX));
  });
  for (int r = 0; r < COUNT; ++r) top[r] = lane_maximum(best[r]);
  sweep(n, [&](int64_t j, int64_t lanes) {
    for (int r = 0; r < COUNT; ++r) {
      const vec e = exponential(load(x + r * n + j, lanes, -HUGE_VALF) - top[r]);
      store(y + r * n + j, e, lanes);
      sums[r] += e;
    }
  });
  for (int r = 0; r < COUNT; ++r) scale[r] = 1.0f / lane_sum(sums[r]);
  sweep(n, [&](int64_t j, int64_t lanes) {
    for (int r = 0; r < COUNT; ++r) store(y + r * n + j, load(y + r * n + j, lanes) * scale[r], lanes);
  });
}
}  // namespace

extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N) {
#pragma omp parallel for SCHEDULE
  for (int64_t b = 0; b < M / ROWS; ++b) softmax_rows<ROWS>(x + b * ROWS * N, y + b * ROWS * N, N);
  for (int64_t i = M / ROWS * ROWS; i < M; ++i) softmax_rows<1>(x + i * N, y + i * N, N);
  return 0;
}
