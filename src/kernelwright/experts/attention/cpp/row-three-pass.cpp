// /// kernelwright
// strategy = "row-three-pass: one query at a time, its scores as dot products, its maximum and weights, its weighted sum of values, nothing packed"
// tune.KEYS = [4, 2, 8]
// tune.PARTS = [32, 8, 128]
// cures = ["memory latency"]
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

inline int64_t tiles(int64_t size, int64_t tile) { return (size + tile - 1) / tile; }

inline Vec larger(Vec a, Vec b) { return a > b ? a : b; }

typedef float Quad __attribute__((vector_size(16)));

// Four lanes at a time, then across the four: a short chain of dependent additions.
inline float total(Vec v) {
  Quad x[LANES / 4];
  std::memcpy(x, &v, sizeof v);
#pragma GCC unroll 4
  for (int half = LANES / 8; half > 0; half /= 2) {
#pragma GCC unroll 4
    for (int i = 0; i < half; ++i) x[i] += x[i + half];
  }
  const Quad pair = x[0] + __builtin_shufflevector(x[0], x[0], 2, 3, 0, 1);
  return pair[0] + pair[1];
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

// scores[n] = scale * (q . key n) for COUNT keys
template <int COUNT>
inline void score(const float* q, const float* k, int64_t D, float scale, float* scores) {
  Vec acc[COUNT] = {};
  int64_t d = 0;
  for (; d + LANES <= D; d += LANES) {
    const Vec query = load(q + d);
#pragma GCC unroll 8
    for (int n = 0; n < COUNT; ++n) acc[n] += query * load(k + n * D + d);
  }
#pragma GCC unroll 8
  for (int n = 0; n < COUNT; ++n) {
    float sum = total(acc[n]);
    for (int64_t t = d; t < D; ++t) sum += q[t] * k[n * D + t];
    scores[n] = sum * scale;
  }
}

// o += weights[n] * value n for COUNT values
template <int COUNT>
inline void add_values(const float* weights, const float* v, int64_t D, float* o) {
  float w[COUNT];
  for (int n = 0; n < COUNT; ++n) w[n] = weights[n];
#pragma omp simd
  for (int64_t d = 0; d < D; ++d) {
    float sum = o[d];
#pragma GCC unroll 8
    for (int n = 0; n < COUNT; ++n) sum += w[n] * v[n * D + d];
    o[d] = sum;
  }
}

// `scores` holds `keys` floats rounded up to whole vectors.
inline void attend(const float* q, const float* k, const float* v, float* scores, float* o, int64_t keys, int64_t D) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(D));
  const int64_t padded = tiles(keys, LANES) * LANES;
  int64_t j = 0;
  for (; j + KEYS <= keys; j += KEYS) score<KEYS>(q, k + j * D, D, scale, scores + j);
  for (; j < keys; ++j) score<1>(q, k + j * D, D, scale, scores + j);
  for (; j < padded; ++j) scores[j] = -INFINITY;

  Vec top = load(scores), sum = {};
  for (int64_t n = LANES; n < padded; n += LANES) top = larger(top, load(scores + n));
  const float peak = largest(top);
  for (int64_t n = 0; n < padded; n += LANES) {
    const Vec w = exponential(load(scores + n) - peak);
    store(scores + n, w);
    sum += w;
  }
  const float inverse = 1.0f / total(sum);

  for (int64_t d = 0; d < D; ++d) o[d] = 0.0f;
  for (j = 0; j + KEYS <= keys; j += KEYS) add_values<KEYS>(scores + j, v + j * D, D, o);
  for (; j < keys; ++j) add_values<1>(scores + j, v + j * D, D, o);
  for (int64_t d = 0; d < D; ++d) o[d] *= inverse;
}

}  // namespace

extern "C" int64_t attention_workspace(int64_t, int64_t, int64_t S, int64_t) {
  return PARTS * tiles(S, LANES) * LANES * 4 + 64;
}

extern "C" int attention(const float* q, const float* k, const float* v, float* o, int32_t causal, int64_t B, int64_t H,
                         int64_t S, int64_t D, void* workspace) {
  float* scores = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(workspace) + 63) / 64 * 64);
  const int64_t rows = B * H * S, pitch = tiles(S, LANES) * LANES;
  // One row of scores a part, however many threads there are.
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t part = 0; part < PARTS; ++part) {
    for (int64_t r = rows * part / PARTS; r < rows * (part + 1) / PARTS; ++r) {
      const int64_t i = r % S, first = (r - i) * D;
      attend(q + r * D, k + first, v + first, scores + part * pitch, o + r * D, causal ? i + 1 : S, D);
    }
  }
  return 0;
}
