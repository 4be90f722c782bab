// /// kernelwright
// strategy = "split vocabulary: different threads reduce pieces of a row to a maximum and a sum, joined afterwards; for few rows and many labels"
// tune.PIECE = [4096, 1024, 2048, 16384]
// tune.ACC = [4, 2, 8]
// tune.GRAIN = [0, 1]
// where = ["PIECE <= max(4096, next_pow2(V))"]
// cures = ["parallelism"]
// ///
// PIECE: logits of a piece. ACC: vectors in flight in each reduction. GRAIN: pieces a dynamic task, 0 for an even
// static split.
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <vector>

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

struct Part {
  float top, sum;
};

inline Part reduce_piece(const float* x, int64_t n) {
  const float top = row_maximum(x, n);
  vec sums[ACC] = {};
  sweep(n, [&](int a, int64_t j, int64_t lanes) {
    sums[a] += exponential(load(x + j, lanes, -HUGE_VALF) - top);
  });
  return {top, total(sums)};
}

inline float join(const Part* parts, int64_t pieces, float logit) {
  float top = -FLT_MAX, sum = 0.0f;
  for (int64_t p = 0; p < pieces; ++p) top = parts[p].top > top ? parts[p].top : top;
  for (int64_t p = 0; p < pieces; ++p) sum += parts[p].sum * std::exp(parts[p].top - top);
  return std::log(sum) - (logit - top);
}
}  // namespace

extern "C" int cross_entropy(const float* logits, const int64_t* labels, float* loss, int64_t N, int64_t V) {
  const int64_t pieces = (V + PIECE - 1) / PIECE;
  std::vector<Part> parts(N * pieces);
#pragma omp parallel
  {
#pragma omp for SCHEDULE
    for (int64_t t = 0; t < N * pieces; ++t) {
      const int64_t first = t % pieces * PIECE;
      parts[t] = reduce_piece(logits + t / pieces * V + first, V - first < PIECE ? V - first : PIECE);
    }
#pragma omp for
    for (int64_t i = 0; i < N; ++i) loss[i] = join(parts.data() + i * pieces, pieces, logits[i * V + labels[i]]);
  }
  return 0;
}
