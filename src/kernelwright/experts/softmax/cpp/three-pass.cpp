// /// kernelwright
// strategy = "three-pass: maximum, exponentials with their sum, scaling in place; the row stays in cache after the first pass"
// tune.ACC = [4, 1, 2, 8]
// tune.GRAIN = [0, 1, 4, 16]
// tune.AHEAD = [1, 0, 2]
// where = ["GRAIN * cores <= max(M, 1)"]
// cures = ["compute", "memory latency"]
// ///
// ACC: vectors in flight in each reduction. GRAIN: rows a dynamic task, 0 for an even static split. AHEAD: rows that
// the last pass prefetches in advance, 0 for none.
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

// Calls f(accumulator, offset, lanes) over n elements.
template <class F>
inline void sweep(int64_t n, F f) {
  int64_t j = 0;
  for (; j + ACC * LANES <= n; j += ACC * LANES)
    for (int a = 0; a < ACC; ++a) f(a, j + a * LANES, LANES);
  for (; j + LANES <= n; j += LANES) f(0, j, LANES);
  if (j < n) f(0, j, n - j);
}

inline float lane_maximum(vec v) {
  float top = v[0];
  for (int l = 1; l < LANES; ++l) top = v[l] > top ? v[l] : top;
  return top;
}

inline float row_maximum(const float* x, int64_t n) {
  vec best[ACC];
  for (vec& b : best) b = vec{} - FLT_MAX;  // finite, so that a row of -inf still ends as NaN
  sweep(n, [&](int a, int64_t j, int64_t lanes) { best[a] = larger(best[a], load(x + j, lanes, -FLT_MAX)); });
  for (int a = 1; a < ACC; ++a) best[0] = larger(best[0], best[a]);
  return lane_maximum(best[0]);
}

// Sum of the lanes of v, as a tree.
inline float lane_sum(vec v) {
  float lanes[LANES];
  *reinterpret_cast<loose*>(lanes) = v;
  for (int width = LANES / 2; width; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
}

inline float total(const vec (&sums)[ACC]) {
  vec sum = sums[0];
  for (int a = 1; a < ACC; ++a) sum += sums[a];
  return lane_sum(sum);
}

inline void softmax_row(const float* x, float* y, int64_t n) {
  const float top = row_maximum(x, n);
  vec sums[ACC] = {};
  sweep(n, [&](int a, int64_t j, int64_t lanes) {
    const vec e = exponential(load(x + j, lanes, -HUGE_VALF) - top);
    store(y + j, e, lanes);
    sums[a] += e;
  });
  const float scale = 1.0f / total(sums);
  sweep(n, [&](int, int64_t j, int64_t lanes) {
    if (AHEAD) __builtin_prefetch(x + AHEAD * n + j);
    store(y + j, load(y + j, lanes) * scale, lanes);
  });
}
}  // namespace

extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N) {
#pragma omp parallel for SCHEDULE
  for (int64_t i = 0; i < M; ++i) softmax_row(x + i * N, y + i * N, N);
  return 0;
}
