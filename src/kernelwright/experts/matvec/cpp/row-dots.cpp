// /// kernelwright
// strategy = "row-dots: a thread owns whole rows and takes a few of them at once, so that a piece of x serves several rows"
// tune.ROWS = [2, 1, 4, 8]
// tune.UNROLL = [2, 1, 4, 8]
// tune.AHEAD = [512, 0, 2048]
// where = ["ROWS * UNROLL <= 16"]
// cures = ["memory bandwidth"]
// ///
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
constexpr int64_t STEP = UNROLL * LANES;

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

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

// COUNT rows from `a` on; AHEAD floats further down each row are asked for early (0: the hardware's choice).
template <int COUNT>
inline void dots(const float* a, const float* x, float* y, int64_t K) {
  Vec acc[COUNT][UNROLL] = {};
  int64_t k = 0;
  for (; k + STEP <= K; k += STEP) {
#pragma GCC unroll 8
    for (int u = 0; u < UNROLL; ++u) {
      const Vec xk = load(x + k + u * LANES);
#pragma GCC unroll 8
      for (int i = 0; i < COUNT; ++i) {
        const float* p = a + i * K + k + u * LANES;
        if (AHEAD > 0) __builtin_prefetch(p + AHEAD);
        acc[i][u] += load(p) * xk;
      }
    }
  }
  for (int i = 0; i < COUNT; ++i) {
    Vec sum = acc[i][0];
    for (int u = 1; u < UNROLL; ++u) sum += acc[i][u];
    int64_t t = k;
    for (; t + LANES <= K; t += LANES) sum += load(a + i * K + t) * load(x + t);
    float rest = 0.0f;
    for (; t < K; ++t) rest += a[i * K + t] * x[t];
    y[i] = total(sum) + rest;
  }
}

}  // namespace

extern "C" int matvec(const float* a, const float* x, float* y, int64_t M, int64_t K) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < M; i += ROWS) {
    if (i + ROWS <= M) {
      dots<ROWS>(a + i * K, x, y + i, K);
    } else {
      for (int64_t r = i; r < M; ++r) dots<1>(a + r * K, x, y + r, K);
    }
  }
  return 0;
}
