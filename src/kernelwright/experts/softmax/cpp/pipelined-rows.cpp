// /// kernelwright
// strategy = "pipelined rows: the pass that scales one row also finds the maximum of the next, so that reading never waits for writing"
// tune.UNROLL = [4, 1, 2, 8]
// tune.RUN = [32, 4, 8, 128]
// tune.STREAM = [1, 0]
// where = ["RUN * cores <= max(M, 64)"]
// cures = ["memory bandwidth", "memory latency"]
// ///
// UNROLL: vectors in a step. RUN: rows that one task takes in sequence. STREAM: 1 to compute the exponentials twice
// and write past the caches, 0 to scale them in place.
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
  for (; j + UNROLL * LANES <= n; j += UNROLL * LANES)
    for (int u = 0; u < UNROLL; ++u) f(j + u * LANES, LANES);
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

inline float row_maximum(const float* x, int64_t n) {
  vec best = vec{} - FLT_MAX;  // finite, so that a row of -inf still ends as NaN
  int64_t j = 0;
  for (; j + LANES <= n; j += LANES) best = larger(best, load(x + j));
  if (j < n) best = larger(best, load(x + j, n - j, -FLT_MAX));
  return lane_maximum(best);
}

// Softmax of x, whose maximum is top; returns the maximum of the row next.
inline float softmax_row(const float* x, float* y, const float* next, float top, int64_t n) {
  vec sum = {}, best = vec{} - FLT_MAX;
  write_row(y, n, [&](int64_t j, int64_t lanes) {
    const vec e = exponential(load(x + j, lanes, -HUGE_VALF) - top);
    if (!STREAM) put(y + j, e, lanes);
    sum += e;
  });
  const float scale = 1.0f / lane_sum(sum);
  write_row(y, n, [&](int64_t j, int64_t lanes) {
    const vec e = STREAM ? exponential(load(x + j, lanes) - top) : load(y + j, lanes);
    best = larger(best, load(next + j, lanes, -FLT_MAX));
    put(y + j, e * scale, lanes);
  });
  return lane_maximum(best);
}
}  // namespace

extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t first = 0; first < M; first += RUN) {
    const int64_t end = first + RUN < M ? first + RUN : M;
    float top = row_maximum(x + first * N, N);
    for (int64_t i = first; i < end; ++i) {
      const int64_t next = i + 1 < end ? i + 1 : i;  // the last row looks at itself again
      top = softmax_row(x + i * N, y + i * N, x + next * N, top, N);
    }
  }
  return 0;
}
