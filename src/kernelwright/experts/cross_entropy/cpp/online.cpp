// /// kernelwright
// strategy = "online: maximum and sum of exponentials in one pass, kept apart in each lane; every logit is read once"
// tune.BLOCK = [8, 2, 4, 16]
// tune.CHAINS = [1, 2]
// tune.GRAIN = [0, 1, 4]
// where = ["GRAIN * cores <= max(N, 1)"]
// cures = ["memory bandwidth"]
// ///
// BLOCK: vectors that share one correction of the running sum. CHAINS: independent running states of a row. GRAIN:
// rows a dynamic task, 0 for an even static split.
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

inline float row_loss(const float* x, int64_t label, int64_t n) {
  Online states[CHAINS];
  int64_t j = 0;
  for (; j + CHAINS * BLOCK * LANES <= n; j += CHAINS * BLOCK * LANES)
    for (int c = 0; c < CHAINS; ++c) states[c].take<BLOCK>(x + j + c * BLOCK * LANES);
  for (; j + LANES <= n; j += LANES) states[0].take<1>(x + j);
  if (j < n) states[0].take<1>(x + j, n - j);
  vec best = states[0].top, sum = {};
  for (int c = 1; c < CHAINS; ++c) best = larger(best, states[c].top);
  const float top = lane_maximum(best);
  for (int c = 0; c < CHAINS; ++c) sum += states[c].sum * exponential(states[c].top - top);
  return std::log(lane_sum(sum)) - (x[label] - top);
}
}  // namespace

extern "C" int cross_entropy(const float* logits, const int64_t* labels, float* loss, int64_t N, int64_t V) {
#pragma omp parallel for SCHEDULE
  for (int64_t i = 0; i < N; ++i) loss[i] = row_loss(logits + i * V, labels[i], V);
  return 0;
}
