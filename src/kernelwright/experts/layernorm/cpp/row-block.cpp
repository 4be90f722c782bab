// /// kernelwright
// strategy = "row block: several rows advance together, so that each vector of weight and bias is loaded once for all of them"
// tune.ROWS = [2, 4, 8]
// tune.UNROLL = [2, 1, 4]
// tune.STREAM = [1, 0]
// tune.GRAIN = [0, 1, 4]
// where = ["ROWS * max(GRAIN, 1) * cores <= max(M, 16)"]
// cures = ["memory latency", "compute"]
// ///
// ROWS: rows of a block. UNROLL: vectors of each row in a step. STREAM: 1 to write past the caches. GRAIN: blocks a
// dynamic task, 0 for an even static split.
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

// Writes the first n lanes; a full vector bypasses the caches when STREAM is set and p is aligned to a vector.
inline void put(float* p, vec v, int64_t n) {
  if (n < LANES) {
    for (int64_t l = 0; l < n; ++l) p[l] = v[l];
    return;
  }
#if STREAM && defined(__AVX512F__)
  if (reinterpret_cast<uintptr_t>(p) % sizeof(vec) == 0) return _mm512_stream_ps(p, reinterpret_cast<__m512>(v));
#elif STREAM && defined(__AVX2__)
  if (reinterpret_cast<uintptr_t>(p) % sizeof(vec) == 0) return _mm256_stream_ps(p, reinterpret_cast<__m256>(v));
#endif
  *reinterpret_cast<loose*>(p) = v;
}

// Sum of the lanes of v, as a tree.
inline float lane_sum(vec v) {
  float lanes[LANES];
  *reinterpret_cast<loose*>(lanes) = v;
  for (int width = LANES / 2; width; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
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
inline void layernorm_rows(const float* x, const float* weight, const float* bias, float* y, float eps, int64_t n) {
  const float count = static_cast<float>(n);
  vec sums[COUNT] = {}, squares[COUNT] = {};
  float mean[COUNT], scale[COUNT];
  sweep(n, [&](int64_t j, int64_t lanes) {
    for (int r = 0; r < COUNT; ++r) sums[r] += load(x + r * n + j, lanes);
  });
  for (int r = 0; r < COUNT; ++r) mean[r] = lane_sum(sums[r]) / count;
  sweep(n, [&](int64_t j, int64_t lanes) {
    for (int r = 0; r < COUNT; ++r) {
      const vec centred = load(x + r * n + j, lanes, mean[r]) - mean[r];
      squares[r] += centred * centred;
    }
  });
  for (int r = 0; r < COUNT; ++r) scale[r] = 1.0f / std::sqrt(lane_sum(squares[r]) / count + eps);
  sweep(n, [&](int64_t j, int64_t lanes) {
    const vec w = load(weight + j, lanes), b = load(bias + j, lanes);
    for (int r = 0; r < COUNT; ++r)
      put(y + r * n + j, (load(x + r * n + j, lanes) - mean[r]) * scale[r] * w + b, lanes);
  });
}
}  // namespace

extern "C" int layernorm(const float* x, const float* weight, const float* bias, float* y, float eps, int64_t M,
                         int64_t N) {
#pragma omp parallel for SCHEDULE
  for (int64_t b = 0; b < M / ROWS; ++b)
    layernorm_rows<ROWS>(x + b * ROWS * N, weight, bias, y + b * ROWS * N, eps, N);
  for (int64_t i = M / ROWS * ROWS; i < M; ++i) layernorm_rows<1>(x + i * N, weight, bias, y + i * N, eps, N);
  return 0;
}
