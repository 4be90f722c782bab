// /// kernelwright
// strategy = "rows in memory order, each pair of halves rotated a vector at a time; the tables are read again for every head"
// tune.GRAIN = [0, 16, 64, 256]
// tune.STREAM = [0, 1]
// tune.AHEAD = [0, 1, 4]
// where = ["GRAIN * cores <= max(B * H * S, 1)"]
// cures = ["memory bandwidth"]
// ///
// GRAIN: rows a dynamic task, 0 for an even static split. STREAM: 1 to write past the caches. AHEAD: rows prefetched
// in advance, 0 for none.
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

// Rotates one row of D elements: element d with element d + half.
inline void rotate_row(const float* x, const float* c, const float* s, float* y, int64_t half) {
  for (int64_t d = 0; d < half; d += LANES) {
    const int64_t lanes = half - d;
    const vec first = load(x + d, lanes), second = load(x + half + d, lanes);
    const vec cosine = load(c + d, lanes), sine = load(s + d, lanes);
    put(y + d, first * cosine - second * sine, lanes);
    put(y + half + d, second * cosine + first * sine, lanes);
  }
}
}  // namespace

extern "C" int rotary(const float* x, const float* cos, const float* sin, float* y, int64_t B, int64_t H, int64_t S,
                      int64_t D) {
#pragma omp parallel for SCHEDULE
  for (int64_t row = 0; row < B * H * S; ++row) {
    if (AHEAD)
      for (int64_t d = 0; d < D; d += 16) __builtin_prefetch(x + (row + AHEAD) * D + d);
    rotate_row(x + row * D, cos + row % S * (D / 2), sin + row % S * (D / 2), y + row * D, D / 2);
  }
  return 0;
}
