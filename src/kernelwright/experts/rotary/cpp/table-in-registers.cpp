// /// kernelwright
// strategy = "table in registers: the angles of a position are loaded once and rotate that position in every head before the next is read"
// tune.TILE = [2, 1, 4]
// tune.GRAIN = [0, 1, 8]
// tune.STREAM = [0, 1]
// tune.AHEAD = [0, 1]
// where = ["GRAIN * cores <= max(S, 1)"]
// cures = ["memory bandwidth", "compute"]
// ///
// TILE: vectors of the tables held at once. GRAIN: positions a dynamic task, 0 for an even static split. STREAM: 1 to
// write past the caches. AHEAD: 1 to prefetch the next position of each head.
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

// Rotates elements d .. d + COUNT vectors of one position in all heads, which lie stride elements apart.
template <int COUNT>
inline void rotate_heads(const float* x, const float* c, const float* s, float* y, int64_t heads, int64_t stride,
                         int64_t half, int64_t lanes = LANES) {
  vec cosine[COUNT], sine[COUNT];
  for (int t = 0; t < COUNT; ++t) {
    cosine[t] = load(c + t * LANES, lanes);
    sine[t] = load(s + t * LANES, lanes);
  }
  for (int64_t h = 0; h < heads; ++h, x += stride, y += stride)
    for (int t = 0; t < COUNT; ++t) {
      const float* here = x + t * LANES;
      const vec first = load(here, lanes), second = load(here + half, lanes);
      if (AHEAD) {
        __builtin_prefetch(here + 2 * half);
        __builtin_prefetch(here + 3 * half);
      }
      put(y + t * LANES, first * cosine[t] - second * sine[t], lanes);
      put(y + half + t * LANES, second * cosine[t] + first * sine[t], lanes);
    }
}
}  // namespace

extern "C" int rotary(const float* x, const float* cos, const float* sin, float* y, int64_t B, int64_t H, int64_t S,
                      int64_t D) {
  const int64_t half = D / 2;
#pragma omp parallel for SCHEDULE
  for (int64_t s = 0; s < S; ++s) {
    const float *in = x + s * D, *c = cos + s * half, *sines = sin + s * half;
    float* out = y + s * D;
    int64_t d = 0;
    for (; d + TILE * LANES <= half; d += TILE * LANES)
      rotate_heads<TILE>(in + d, c + d, sines + d, out + d, B * H, S * D, half);
    for (; d < half; d += LANES) rotate_heads<1>(in + d, c + d, sines + d, out + d, B * H, S * D, half, half - d);
  }
  return 0;
}
