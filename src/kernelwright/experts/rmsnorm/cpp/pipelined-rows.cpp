// /// kernelwright
// strategy = "pipelined rows: the pass that writes one row also sums the squares of the next, so that reading never waits for writing"
// tune.UNROLL = [4, 1, 2, 8]
// tune.RUN = [32, 4, 8, 128]
// tune.STREAM = [1, 0]
// where = ["RUN * cores <= max(M, 64)"]
// cures = ["memory bandwidth", "memory latency"]
// ///
// UNROLL: vectors in a step. RUN: rows that one task takes in sequence. STREAM: 1 to write past the caches.
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

// Sum of the lanes of v, as a tree.
inline float lane_sum(vec v) {
  float lanes[LANES];
  *reinterpret_cast<loose*>(lanes) = v;
  for (int width = LANES / 2; width; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
}

inline float row_squares(const float* x, int64_t n) {
  vec squares[4] = {};
  int64_t j = 0;
  for (; j + 4 * LANES <= n; j += 4 * LANES)
    for (int a = 0; a < 4; ++a) squares[a] += load(x + j + a * LANES) * load(x + j + a * LANES);
  for (; j < n; j += LANES) squares[0] += load(x + j, n - j) * load(x + j, n - j);
  return lane_sum((squares[0] + squares[1]) + (squares[2] + squares[3]));
}

// Writes one row and returns the sum of squares of the row next.
inline float write_and_sum(const float* x, const float* weight, float* y, float scale, const float* next, int64_t n) {
  vec even = {}, odd = {};
  write_row(y, n, [&](int64_t j, int64_t lanes) {
    const vec v = load(next + j, lanes);
    (j & LANES ? odd : even) += v * v;
    put(y + j, load(x + j, lanes) * scale * load(weight + j, lanes), lanes);
  });
  return lane_sum(even + odd);
}
}  // namespace

extern "C" int rmsnorm(const float* x, const float* weight, float* y, float eps, int64_t M, int64_t N) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t first = 0; first < M; first += RUN) {
    const int64_t end = first + RUN < M ? first + RUN : M;
    float squares = row_squares(x + first * N, N);
    for (int64_t i = first; i < end; ++i) {
      const float scale = 1.0f / std::sqrt(squares / static_cast<float>(N) + eps);
      const int64_t next = i + 1 < end ? i + 1 : i;  // the last row looks at itself again
      squares = write_and_sum(x + i * N, weight, y + i * N, scale, x + next * N, N);
    }
  }
  return 0;
}
