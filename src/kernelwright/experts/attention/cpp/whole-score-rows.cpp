// /// kernelwright
// strategy = "whole-score-rows: all scores of a query tile are kept, then softmax row by row, then one product with the values that never leaves registers"
// tune.MR = [6, 4, 8]
// tune.KV = [2, 1, 3]
// tune.DV = [4, 2]
// tune.PARTS = [16, 4, 64]
// where = ["MR * KV <= 24", "MR * DV <= 24"]
// cures = ["compute"]
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

// Scores become weights that are not divided yet; returns their sum. Scores past `visible` count as -inf.
inline float soften(float* scores, int64_t visible, int64_t pitch) {
  for (int64_t n = visible; n < pitch; ++n) scores[n] = -INFINITY;
  Vec top = load(scores), sum = {};
  for (int64_t n = LANES; n < pitch; n += LANES) top = larger(top, load(scores + n));
  const float peak = largest(top);
  for (int64_t n = 0; n < pitch; n += LANES) {
    const Vec w = exponential(load(scores + n) - peak);
    store(scores + n, w);
    sum += w;
  }
  return total(sum);
}

// o[i] = factor[i] * sum over keys of weights[i][n] * values[n], COUNT vectors wide
template <int COUNT>
inline void weigh(const float* weights, int64_t pitch, const float* values, int64_t width, int64_t keys,
                  const float* factor, float* o, int64_t stride, int64_t rows, int64_t cols) {
  Vec acc[MR][COUNT] = {};
  for (int64_t n = 0; n < keys; ++n, values += width) {
    Vec value[COUNT];
#pragma GCC unroll 8
    for (int v = 0; v < COUNT; ++v) value[v] = load(values + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const float w = weights[i * pitch + n];
#pragma GCC unroll 8
      for (int v = 0; v < COUNT; ++v) acc[i][v] += w * value[v];
    }
  }
  float block[MR][COUNT * LANES];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < COUNT; ++v) store(&block[i][v * LANES], acc[i][v] * factor[i]);
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t d = 0; d < least(cols, COUNT * LANES); ++d) o[i * stride + d] = block[i][d];
  }
}

// Rows past the end repeat the last query; only rows that exist are written to o.
inline void attend(const float* q, const float* panels, const float* values, float* scores, float* o, bool causal,
                   int64_t i0, int64_t S, int64_t D, int64_t width) {
  const int64_t rows = least(MR, S - i0), end = causal ? i0 + rows : S, pitch = tiles(end, NR) * NR;
  const float scale = 1.0f / std::sqrt(static_cast<float>(D));
  const float* query[MR];
  float factor[MR];
  for (int i = 0; i < MR; ++i) query[i] = q + (i0 + least(i, rows - 1)) * D;
  for (int64_t j = 0; j < end; j += NR) score(query, D, scale, panels + j * D, scores + j, pitch);
  for (int i = 0; i < MR; ++i) {
    factor[i] = 1.0f / soften(scores + i * pitch, causal ? least(i0 + i + 1, end) : end, pitch);
  }
  o += i0 * D;
  int64_t d = 0;
  for (; d + DV * LANES <= width; d += DV * LANES) {
    weigh<DV>(scores, pitch, values + d, width, end, factor, o + d, D, rows, D - d);
  }
  for (; d < width; d += LANES) weigh<1>(scores, pitch, values + d, width, end, factor, o + d, D, rows, D - d);
}

inline int64_t panel_floats(int64_t S, int64_t D) { return tiles(S, NR) * NR * D; }

}  // namespace

extern "C" int64_t attention_workspace(int64_t B, int64_t H, int64_t S, int64_t D) {
  const int64_t width = tiles(D, LANES) * LANES;
  return (B * H * (panel_floats(S, D) + S * width) + PARTS * MR * tiles(S, NR) * NR) * 4 + 64;
}

extern "C" int attention(const float* q, const float* k, const float* v, float* o, int32_t causal, int64_t B, int64_t H,
                         int64_t S, int64_t D, void* workspace) {
  const int64_t heads = B * H, width = tiles(D, LANES) * LANES, panels = tiles(S, NR), query_tiles = tiles(S, MR);
  float* values = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(workspace) + 63) / 64 * 64);
  float* scores = values + heads * S * width;
  float* keys = scores + PARTS * MR * panels * NR;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int64_t t = 0; t < heads * panels; ++t) {
      const int64_t head = t / panels, j = t % panels * NR, count = least(NR, S - j);
      pack_keys(k + (head * S + j) * D, D, count, keys + head * panel_floats(S, D) + j * D);
      pack_values(v + (head * S + j) * D, D, width, count, values + (head * S + j) * width);
    }
    // One buffer of scores a part, however many threads there are.
#pragma omp for schedule(dynamic, 1)
    for (int64_t part = 0; part < PARTS; ++part) {
      const int64_t all = heads * query_tiles;
      for (int64_t t = all * part / PARTS; t < all * (part + 1) / PARTS; ++t) {
        const int64_t head = t / query_tiles, i = t % query_tiles * MR, first = head * S * D;
        attend(q + first, keys + head * panel_floats(S, D), values + head * S * width, scores + part * MR * panels * NR,
               o + first, causal != 0, i, S, D, width);
      }
    }
  }
  return 0;
}
