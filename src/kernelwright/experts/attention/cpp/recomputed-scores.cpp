// /// kernelwright
// strategy = "recomputed-scores: a first pass over the keys finds each row's maximum and sum, a second computes the scores again and adds final weights, nothing is rescaled"
// tune.MR = [6, 4, 8]
// tune.KV = [2, 1, 3]
// tune.DV = [4, 2]
// where = ["MR * KV <= 24", "MR * DV <= 24"]
// cures = ["memory bandwidth"]
// ///
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

namespace {

typedef float Vec __attribute__((vector_size(LANES * 4)));
typedef int32_t Int __attribute__((vector_size(LANES * 4)));

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

inline int64_t tiles(int64_t size, int64_t tile) { return (size + tile - 1) / tile; }

inline Vec larger(Vec a, Vec b) { return a > b ? a : b; }

inline float total(Vec v) {
  float x[LANES];
  std::memcpy(x, &v, sizeof v);
  for (int half = LANES / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) x[i] += x[i + half];
  }
  return x[0];
}

inline float largest(Vec v) {
  float x[LANES];
  std::memcpy(x, &v, sizeof v);
  for (int half = LANES / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) x[i] = x[i] > x[i + half] ? x[i] : x[i + half];
  }
  return x[0];
}

// e^x for x <= 0: x = n ln 2 + r, a polynomial in r (Cephes), times 2^n. -inf gives 0 and NaN stays NaN.
inline Vec exponential(Vec x) {
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  const Vec shifted = x * 1.44269504f + magic;
  const Vec n = shifted - magic;
  const Vec r = x - n * 0.693359375f + n * 2.12194440e-4f;
  Vec p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  Int bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 127) << 23;
  Vec power;
  std::memcpy(&power, &bits, sizeof power);
  return x < -87.3f ? Vec{} : p * power;
}

constexpr int64_t NR = KV * LANES;

// Keys of one panel, transposed: panel[d][n]. Keys that do not exist become zeros.
inline void pack_keys(const float* k, int64_t D, int64_t keys, float* panel) {
  for (int64_t n = 0; n < NR; ++n) {
    for (int64_t d = 0; d < D; ++d) panel[d * NR + n] = n < keys ? k[n * D + d] : 0.0f;
  }
}

// Values widened with zeros to whole vectors.
inline void pack_values(const float* v, int64_t D, int64_t width, int64_t keys, float* to) {
  for (int64_t n = 0; n < keys; ++n, v += D, to += width) {
    for (int64_t d = 0; d < width; ++d) to[d] = d < D ? v[d] : 0.0f;
  }
}

// scores[i][n] = scale * (query i . key n) for the keys of one panel
inline void score(const float* const* query, int64_t D, float scale, const float* panel, float* scores, int64_t pitch) {
  Vec acc[MR][KV] = {};
  for (int64_t d = 0; d < D; ++d, panel += NR) {
    Vec keys[KV];
#pragma GCC unroll 8
    for (int v = 0; v < KV; ++v) keys[v] = load(panel + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const float factor = query[i][d];
#pragma GCC unroll 8
      for (int v = 0; v < KV; ++v) acc[i][v] += factor * keys[v];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < KV; ++v) store(scores + i * pitch + v * LANES, acc[i][v] * scale);
  }
}

// out[i] += sum over keys of weights[i][n] * values[n], COUNT vectors wide
template <int COUNT>
inline void weigh(const float* weights, const float* values, int64_t width, int64_t keys, float* out) {
  Vec acc[MR][COUNT];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < COUNT; ++v) acc[i][v] = load(out + i * width + v * LANES);
  }
  for (int64_t n = 0; n < keys; ++n, values += width) {
    Vec value[COUNT];
#pragma GCC unroll 8
    for (int v = 0; v < COUNT; ++v) value[v] = load(values + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const float w = weights[i * NR + n];
#pragma GCC unroll 8
      for (int v = 0; v < COUNT; ++v) acc[i][v] += w * value[v];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < COUNT; ++v) store(out + i * width + v * LANES, acc[i][v]);
  }
}

struct Tile {
  const float* query[MR];
  int64_t visible[MR];  // keys that each row may see
  int64_t D, end;
  float scale;
};

// Scores of the keys from j on, -inf where a row may not look.
inline void masked(const Tile& tile, const float* panels, int64_t j, float* scores) {
  score(tile.query, tile.D, tile.scale, panels + j * tile.D, scores, NR);
  for (int i = 0; i < MR; ++i) {
    const int64_t seen = tile.visible[i] - j;
    for (int64_t n = seen > 0 ? seen : 0; n < NR; ++n) scores[i * NR + n] = -INFINITY;
  }
}

// Every lane keeps its own maximum and sum; they meet only at the end. A lane that has seen no finite
// score has nothing to subtract.
inline void statistics(const Tile& tile, const float* panels, float* peak, float* inverse) {
  alignas(64) float scores[MR * NR];
  Vec top[MR], sum[MR] = {};
  for (int i = 0; i < MR; ++i) top[i] = Vec{} - INFINITY;
  for (int64_t j = 0; j < tile.end; j += NR) {
    masked(tile, panels, j, scores);
    for (int i = 0; i < MR; ++i) {
      Vec now = top[i];
      for (int n = 0; n < NR; n += LANES) now = larger(now, load(scores + i * NR + n));
      const Vec base = now == -INFINITY ? Vec{} : now;
      sum[i] *= exponential(top[i] - base);
      for (int n = 0; n < NR; n += LANES) sum[i] += exponential(load(scores + i * NR + n) - base);
      top[i] = now;
    }
  }
  for (int i = 0; i < MR; ++i) {
    peak[i] = largest(top[i]);
    const float base = peak[i] == -INFINITY ? 0.0f : peak[i];
    inverse[i] = 1.0f / total(sum[i] * exponential(top[i] - base));
  }
}

// Rows past the end repeat the last query; only rows that exist are written to o.
inline void attend(const float* q, const float* panels, const float* values, float* out, float* o, bool causal,
                   int64_t i0, int64_t S, int64_t D, int64_t width) {
  const int64_t rows = least(MR, S - i0), end = causal ? i0 + rows : S;
  Tile tile;
  tile.D = D, tile.end = end, tile.scale = 1.0f / std::sqrt(static_cast<float>(D));
  for (int i = 0; i < MR; ++i) {
    tile.query[i] = q + (i0 + least(i, rows - 1)) * D;
    tile.visible[i] = causal ? least(i0 + i + 1, end) : end;
  }
  float peak[MR], inverse[MR];
  statistics(tile, panels, peak, inverse);
  alignas(64) float scores[MR * NR];
  for (int64_t x = 0; x < MR * width; ++x) out[x] = 0.0f;
  for (int64_t j = 0; j < end; j += NR) {
    masked(tile, panels, j, scores);
    for (int i = 0; i < MR; ++i) {
      for (int n = i * NR; n < (i + 1) * NR; n += LANES) {
        store(scores + n, exponential(load(scores + n) - peak[i]) * inverse[i]);
      }
    }
    const int64_t keys = least(NR, end - j);
    const float* v = values + j * width;
    int64_t d = 0;
    for (; d + DV * LANES <= width; d += DV * LANES) weigh<DV>(scores, v + d, width, keys, out + d);
    for (; d < width; d += LANES) weigh<1>(scores, v + d, width, keys, out + d);
  }
  for (int64_t i = 0; i < rows; ++i) std::memcpy(o + (i0 + i) * D, out + i * width, D * sizeof(float));
}

inline int64_t panel_floats(int64_t S, int64_t D) { return tiles(S, NR) * NR * D; }

}  // namespace

extern "C" int64_t attention_workspace(int64_t B, int64_t H, int64_t S, int64_t D) {
  const int64_t width = tiles(D, LANES) * LANES;
  return B * H * (panel_floats(S, D) + S * width + tiles(S, MR) * MR * width) * 4 + 64;
}

extern "C" int attention(const float* q, const float* k, const float* v, float* o, int32_t causal, int64_t B, int64_t H,
                         int64_t S, int64_t D, void* workspace) {
  const int64_t heads = B * H, width = tiles(D, LANES) * LANES, panels = tiles(S, NR), query_tiles = tiles(S, MR);
  float* values = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(workspace) + 63) / 64 * 64);
  float* out = values + heads * S * width;
  float* keys = out + heads * query_tiles * MR * width;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int64_t t = 0; t < heads * panels; ++t) {
      const int64_t head = t / panels, j = t % panels * NR, count = least(NR, S - j);
      pack_keys(k + (head * S + j) * D, D, count, keys + head * panel_floats(S, D) + j * D);
      pack_values(v + (head * S + j) * D, D, width, count, values + (head * S + j) * width);
    }
#pragma omp for schedule(dynamic, 4)
    for (int64_t t = 0; t < heads * query_tiles; ++t) {
      const int64_t head = t / query_tiles, i = t % query_tiles * MR, first = head * S * D;
      attend(q + first, keys + head * panel_floats(S, D), values + head * S * width, out + t * MR * width, o + first,
             causal != 0, i, S, D, width);
    }
  }
  return 0;
}
