// /// kernelwright
// strategy = "online: maximum and sum in one pass, kept apart in each lane, then one pass that writes; the input is read twice only"
// tune.BLOCK = [8, 2, 4, 16]
// tune.STREAM = [1, 0]
// tune.GRAIN = [0, 1, 4]
// tune.AHEAD = [1, 0]
// where = ["GRAIN * cores <= max(M, 1)"]
// cures = ["memory bandwidth"]
// ///
// BLOCK: vectors that share one correction of the running sum. STREAM: 1 to write past the caches. GRAIN: rows a
// dynamic task, 0 for an even static split. AHEAD: rows that the last pass prefetches in advance, 0 for none.
#include <cfloat>
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

// Running maximum and sum of each lane; a block of vectors shares one correction of the sums.
struct Online {
  vec top = vec{} - FLT_MAX;  // finite, so that a row of -inf still ends as NaN
  vec sum = {};

  template <int COUNT>
  inline void take(const float* x, int64_t lanes = LANES) {
    vec values[COUNT];
    vec next = top;
    for (int b = 0; b < COUNT; ++b) {
      values[b] = load(x + b * LANES, lanes, -HUGE_VALF);
      next = larger(next, values[b]);
    }
    sum *= exponential(top - next);
    for (int b = 0; b < COUNT; ++b) sum += exponential(values[b] - next);
    top = next;
  }
};

inline Online scan(const float* x, int64_t n) {
  Online state;
  int64_t j = 0;
  for (; j + BLOCK * LANES <= n; j += BLOCK * LANES) state.take<BLOCK>(x + j);
  for (; j + LANES <= n; j += LANES) state.take<1>(x + j);
  if (j < n) state.take<1>(x + j, n - j);
  return state;
}

inline void softmax_row(const float* x, float* y, int64_t n) {
  const Online state = scan(x, n);
  const float top = lane_maximum(state.top);
  const float scale = 1.0f / lane_sum(state.sum * exponential(state.top - top));
  write_row(y, n, [&](int64_t j, int64_t lanes) {
    if (AHEAD) __builtin_prefetch(x + AHEAD * n + j);
    put(y + j, exponential(load(x + j, lanes) - top) * scale, lanes);
  });
}
}  // namespace

extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N) {
#pragma omp parallel for SCHEDULE
  for (int64_t i = 0; i < M; ++i) softmax_row(x + i * N, y + i * N, N);
  return 0;
}
