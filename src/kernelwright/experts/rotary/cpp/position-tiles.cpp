// /// kernelwright
// strategy = "tiles of positions: the tables of a few positions stay in cache while every head passes them"
// tune.POSITIONS = [32, 8, 16, 64, 128]
// tune.HEADS = [4, 1, 8]
// tune.STREAM = [0, 1]
// tune.GRAIN = [0, 1]
// cures = ["memory bandwidth"]
// ///
// POSITIONS: positions of a tile. HEADS: heads a task. STREAM: 1 to write past the caches. GRAIN: tasks taken at a
// time dynamically, 0 for an even static split.
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
  const int64_t half = D / 2;
#pragma omp parallel for collapse(2) SCHEDULE
  for (int64_t start = 0; start < S; start += POSITIONS)
    for (int64_t first = 0; first < B * H; first += HEADS) {
      const int64_t end = start + POSITIONS < S ? start + POSITIONS : S;
      const int64_t last = first + HEADS < B * H ? first + HEADS : B * H;
      for (int64_t head = first; head < last; ++head)
        for (int64_t s = start; s < end; ++s)
          rotate_row(x + (head * S + s) * D, cos + s * half, sin + s * half, y + (head * S + s) * D, half);
    }
  return 0;
}
