// /// kernelwright
// strategy = "split-columns: threads share the columns, each adds partial sums for all rows, then one pass adds the parts; for few, long rows"
// tune.PARTS = [2, 4, 8]
// tune.SLAB = [2048, 1024, 4096]
// tune.ROWS = [4, 1, 2]
// cures = ["occupancy-limited", "memory bandwidth"]
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
constexpr int PAIRS = 2;  // independent sums a row, to hide the latency of the multiply-add

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

template <int COUNT>
inline void add_dots(const float* a, int64_t stride, const float* x, int64_t n, float* sums) {
  Vec acc[COUNT][PAIRS] = {};
  int64_t k = 0;
  for (; k + PAIRS * LANES <= n; k += PAIRS * LANES) {
#pragma GCC unroll 8
    for (int u = 0; u < PAIRS; ++u) {
      const Vec xk = load(x + k + u * LANES);
#pragma GCC unroll 8
      for (int i = 0; i < COUNT; ++i) acc[i][u] += load(a + i * stride + k + u * LANES) * xk;
    }
  }
  for (int i = 0; i < COUNT; ++i) {
    float rest = 0.0f;
    for (int64_t t = k; t < n; ++t) rest += a[i * stride + t] * x[t];
    sums[i] += total(acc[i][0] + acc[i][1]) + rest;
  }
}

}  // namespace

extern "C" int64_t matvec_workspace(int64_t M, int64_t) { return PARTS * M * 4 + 4; }

extern "C" int matvec(const float* a, const float* x, float* y, int64_t M, int64_t K, void* workspace) {
  float* partial = static_cast<float*>(workspace);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int64_t part = 0; part < PARTS; ++part) {
      float* sums = partial + part * M;
      const int64_t begin = K * part / PARTS, end = K * (part + 1) / PARTS;
      for (int64_t i = 0; i < M; ++i) sums[i] = 0.0f;
      // A slab of x stays in the first-level cache while all rows pass over it.
      for (int64_t k = begin; k < end; k += SLAB) {
        const int64_t n = end - k < SLAB ? end - k : SLAB;
        int64_t i = 0;
        for (; i + ROWS <= M; i += ROWS) add_dots<ROWS>(a + i * K + k, K, x + k, n, sums + i);
        for (; i < M; ++i) add_dots<1>(a + i * K + k, K, x + k, n, sums + i);
      }
    }
#pragma omp for schedule(static)
    for (int64_t i = 0; i < M; ++i) {
      float sum = partial[i];
      for (int part = 1; part < PARTS; ++part) sum += partial[part * M + i];
      y[i] = sum;
    }
  }
  return 0;
}
