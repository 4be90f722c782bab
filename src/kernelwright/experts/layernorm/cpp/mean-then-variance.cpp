// /// kernelwright
// strategy = "mean first, then the variance about it: three passes over a row in cache; the rounding error of the mean is removed again"
// tune.ACC = [4, 1, 2, 8]
// tune.STREAM = [1, 0]
// tune.GRAIN = [0, 1, 4, 16]
// where = ["GRAIN * cores <= max(M, 1)"]
// cures = ["compute", "accuracy"]
// ///
// ACC: vectors in flight in each reduction. STREAM: 1 to write past the caches. GRAIN: rows a dynamic task, 0 for an
// even static split.
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

// Calls f(accumulator, offset, lanes) over n elements.
template <class F>
inline void sweep(int64_t n, F f) {
  int64_t j = 0;
  for (; j + ACC * LANES <= n; j += ACC * LANES)
    for (int a = 0; a < ACC; ++a) f(a, j + a * LANES, LANES);
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

inline void layernorm_row(const float* x, const float* weight, const float* bias, float* y, float eps, int64_t n) {
  const float count = static_cast<float>(n);
  vec sums[ACC] = {}, squares[ACC] = {}, rest[ACC] = {};
  sweep(n, [&](int a, int64_t j, int64_t lanes) { sums[a] += load(x + j, lanes); });
  const float rough = total(sums) / count;
  sweep(n, [&](int a, int64_t j, int64_t lanes) {
    const vec centred = load(x + j, lanes, rough) - rough;
    rest[a] += centred;
    squares[a] += centred * centred;
  });
  const float shift = total(rest) / count;  // what rough lacks of the mean
  const float variance = total(squares) / count - shift * shift;
  const float scale = 1.0f / std::sqrt((variance < 0.0f ? 0.0f : variance) + eps);
  write_row(y, n, [&](int64_t j, int64_t lanes) {
    const vec centred = load(x + j, lanes) - rough - shift;
    put(y + j, centred * scale * load(weight + j, lanes) + load(bias + j, lanes), lanes);
  });
}
}  // namespace

extern "C" int layernorm(const float* x, const float* weight, const float* bias, float* y, float eps, int64_t M,
                         int64_t N) {
#pragma omp parallel for SCHEDULE
  for (int64_t i = 0; i < M; ++i) layernorm_row(x + i * N, weight, bias, y + i * N, eps, N);
  return 0;
}
