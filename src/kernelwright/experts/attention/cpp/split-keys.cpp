// /// kernelwright
// strategy = "split-keys: the keys are cut into parts that run side by side, each with its own maximum, sum and output, then a merge weighs the parts; for few queries"
// tune.PARTS = [2, 4, 8]
// tune.MR = [6, 4, 8]
// tune.KV = [2, 1]
// tune.PANELS = [4, 2]
// where = ["MR * KV <= 24"]
// cures = ["occupancy-limited"]
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
constexpr int64_t BLOCK = PANELS * NR;

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

struct State {
  float peak[MR];
  Vec sum[MR];
};

// Takes in the scores of one block of keys: turns them into weights and returns by how much what was
// added before must shrink. A row without any finite score yet has no peak to subtract.
inline void absorb(float* scores, State& state, float* factor) {
  for (int i = 0; i < MR; ++i) {
    float* s = scores + i * BLOCK;
    Vec top = load(s);
    for (int n = LANES; n < BLOCK; n += LANES) top = larger(top, load(s + n));
    const float before = state.peak[i], now = largest(top);
    const float peak = now > before ? now : before;
    const float base = peak == -INFINITY ? 0.0f : peak;
    factor[i] = exponential(Vec{} + (before - base))[0];
    state.peak[i] = peak;
    Vec sum = state.sum[i] * factor[i];
    for (int n = 0; n < BLOCK; n += LANES) {
      const Vec w = exponential(load(s + n) - base);
      store(s + n, w);
      sum += w;
    }
    state.sum[i] = sum;
  }
}

// out[i] = out[i] * factor[i] + sum over keys of weights[i][n] * values[n], COUNT vectors of each value
template <int COUNT>
inline void weigh(const float* weights, const float* values, int64_t width, int64_t keys, const float* factor,
                  float* out) {
  Vec acc[MR][COUNT];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < COUNT; ++v) acc[i][v] = load(out + i * width + v * LANES) * factor[i];
  }
  for (int64_t n = 0; n < keys; ++n, values += width) {
    Vec value[COUNT];
#pragma GCC unroll 8
    for (int v = 0; v < COUNT; ++v) value[v] = load(values + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const float w = weights[i * BLOCK + n];
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

// One block of keys transposed, panel[d][n] with zeros for keys that do not exist, and its values widened with zeros.
inline void pack(const float* k, const float* v, int64_t D, int64_t width, int64_t count, float* panels,
                 float* values) {
  for (int64_t n = 0; n < BLOCK; ++n) {
    float* panel = panels + n / NR * NR * D + n % NR;
    for (int64_t d = 0; d < D; ++d) panel[d * NR] = n < count ? k[n * D + d] : 0.0f;
  }
  for (int64_t n = 0; n < count; ++n) {
    for (int64_t d = 0; d < width; ++d) values[n * width + d] = d < D ? v[n * D + d] : 0.0f;
  }
}

// A tile of queries from row i0 on meets the block of keys from j0 to j1. Rows past the end repeat the last query.
inline void attend(const float* q, const float* panels, const float* values, State& state, float* out, bool causal,
                   int64_t i0, int64_t j0, int64_t j1, int64_t S, int64_t D, int64_t width) {
  alignas(64) float scores[MR * BLOCK];
  float factor[MR];
  const float* query[MR];
  for (int i = 0; i < MR; ++i) query[i] = q + least(i0 + i, S - 1) * D;
  const float scale = 1.0f / std::sqrt(static_cast<float>(D));
  for (int64_t p = 0; p < BLOCK; p += NR) score(query, D, scale, panels + p * D, scores + p, BLOCK);
  for (int i = 0; i < MR; ++i) {
    const int64_t seen = (causal ? least(i0 + i + 1, j1) : j1) - j0;
    for (int64_t n = seen > 0 ? seen : 0; n < BLOCK; ++n) scores[i * BLOCK + n] = -INFINITY;
  }
  absorb(scores, state, factor);
  int64_t d = 0;
  for (; d + 2 * LANES <= width; d += 2 * LANES) weigh<2>(scores, values + d, width, j1 - j0, factor, out + d);
  if (d < width) weigh<1>(scores, values + d, width, j1 - j0, factor, out + d);
}

// Row r of the query tile, its parts `stride` apart, brought to one maximum and added.
inline void merge(const State* states, const float* out, int64_t r, int64_t stride, int64_t D, int64_t width,
                  float* o) {
  float peak = -INFINITY, sum = 0.0f;
  for (int p = 0; p < PARTS; ++p) {
    const float now = states[p * stride].peak[r];
    peak = now > peak ? now : peak;
  }
  const float base = peak == -INFINITY ? 0.0f : peak;
  for (int64_t d = 0; d < D; ++d) o[d] = 0.0f;
  for (int p = 0; p < PARTS; ++p) {
    const float w = exponential(Vec{} + (states[p * stride].peak[r] - base))[0];
    sum += w * total(states[p * stride].sum[r]);
    for (int64_t d = 0; d < D; ++d) o[d] += w * out[(p * stride * MR + r) * width + d];
  }
  for (int64_t d = 0; d < D; ++d) o[d] /= sum;
}

}  // namespace

extern "C" int64_t attention_workspace(int64_t B, int64_t H, int64_t S, int64_t D) {
  const int64_t width = tiles(D, LANES) * LANES, states = B * H * PARTS * tiles(S, MR);
  return states * (int64_t{sizeof(State)} + MR * width * 4) + B * H * PARTS * BLOCK * (D + width) * 4 + 64;
}

extern "C" int attention(const float* q, const float* k, const float* v, float* o, int32_t causal, int64_t B, int64_t H,
                         int64_t S, int64_t D, void* workspace) {
  const int64_t heads = B * H, width = tiles(D, LANES) * LANES, query_tiles = tiles(S, MR);
  State* states = reinterpret_cast<State*>((reinterpret_cast<uintptr_t>(workspace) + 63) / 64 * 64);
  float* out = reinterpret_cast<float*>(states + heads * PARTS * query_tiles);
  float* packed = out + heads * PARTS * query_tiles * MR * width;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 1)
    for (int64_t t = 0; t < heads * PARTS; ++t) {
      const int64_t first = t / PARTS * S * D, begin = S * (t % PARTS) / PARTS, end = S * (t % PARTS + 1) / PARTS;
      float* panels = packed + t * BLOCK * (D + width);
      float* values = panels + BLOCK * D;
      State empty;
      for (int i = 0; i < MR; ++i) empty.peak[i] = -INFINITY, empty.sum[i] = Vec{};
      for (int64_t x = 0; x < query_tiles; ++x) states[t * query_tiles + x] = empty;
      for (int64_t x = 0; x < query_tiles * MR * width; ++x) out[t * query_tiles * MR * width + x] = 0.0f;
      for (int64_t j = begin; j < end; j += BLOCK) {
        const int64_t stop = least(j + BLOCK, end);
        pack(k + first + j * D, v + first + j * D, D, width, stop - j, panels, values);
        for (int64_t x = causal ? j / MR : 0; x < query_tiles; ++x) {
          const int64_t at = t * query_tiles + x;
          attend(q + first, panels, values, states[at], out + at * MR * width, causal != 0, x * MR, j, stop, S, D,
                 width);
        }
      }
    }
#pragma omp for schedule(static)
    for (int64_t r = 0; r < heads * S; ++r) {
      const int64_t at = r / S * PARTS * query_tiles + r % S / MR;
      merge(states + at, out + at * MR * width, r % S % MR, query_tiles, D, width, o + r * D);
    }
  }
  return 0;
}
