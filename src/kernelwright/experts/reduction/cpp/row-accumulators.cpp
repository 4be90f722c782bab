// /// kernelwright
// strategy = "a row a thread, many vector accumulators that hide the latency of addition; for many rows"
// tune.ACC = [8, 2, 4, 16]
// tune.GRAIN = [0, 1, 4]
// tune.AHEAD = [0, 16, 64]
// where = ["GRAIN * cores <= max(M, 1)"]
// cures = ["compute", "memory latency"]
// ///
// ACC: vectors in flight in each reduction. GRAIN: rows a dynamic task, 0 for an even static split. AHEAD: cache
// lines that are prefetched in advance, 0 for none.
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

// Calls f(accumulator, offset, lanes) over the n elements of x.
template <class F>
inline void sweep([[maybe_unused]] const float* x, int64_t n, F f) {
  int64_t j = 0;
  for (; j + ACC * LANES <= n; j += ACC * LANES)
    for (int a = 0; a < ACC; ++a) {
      if (AHEAD) __builtin_prefetch(x + j + a * LANES + AHEAD * 16);
      f(a, j + a * LANES, LANES);
    }
  for (; j + LANES <= n; j += LANES) f(0, j, LANES);
  if (j < n) f(0, j, n - j);
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

inline float sum_of(const float* x, int64_t n) {
  vec sums[ACC] = {};
  sweep(x, n, [&](int a, int64_t j, int64_t lanes) { sums[a] += load(x + j, lanes); });
  return total(sums);
}
}  // namespace

extern "C" int reduction(const float* x, float* y, int64_t M, int64_t N) {
#pragma omp parallel for SCHEDULE
  for (int64_t i = 0; i < M; ++i) y[i] = sum_of(x + i * N, N);
  return 0;
}
