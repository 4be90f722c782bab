// /// kernelwright
// strategy = "scaled-rows: rows of c summed from scaled rows of b, blocked over rows and depth, nothing packed"
// tune.ROWS = [16, 4, 8, 32, 64]
// tune.DEPTH = [32, 64, 128, 384]
// tune.UNROLL = [8, 2, 4]
// cures = ["memory latency"]
// ///
#include <cstdint>

namespace {

// c[0:n] += sum over u of a[u] * b[u, 0:n]; one pass over the row of c serves COUNT rows of b.
template <int COUNT>
inline void add_rows(const float* a, const float* b, int64_t stride, float* c, int64_t n) {
  float factor[COUNT];
  for (int u = 0; u < COUNT; ++u) factor[u] = a[u];
#pragma omp simd
  for (int64_t j = 0; j < n; ++j) {
    float sum = c[j];
#pragma GCC unroll 8
    for (int u = 0; u < COUNT; ++u) sum += factor[u] * b[u * stride + j];
    c[j] = sum;
  }
}

}  // namespace

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
#pragma omp parallel for schedule(static)
  for (int64_t i0 = 0; i0 < M; i0 += ROWS) {
    const int64_t i1 = i0 + ROWS < M ? i0 + ROWS : M;
    for (int64_t x = i0 * N; x < i1 * N; ++x) c[x] = 0.0f;
    for (int64_t k0 = 0; k0 < K; k0 += DEPTH) {
      const int64_t k1 = k0 + DEPTH < K ? k0 + DEPTH : K;
      for (int64_t i = i0; i < i1; ++i) {
        int64_t k = k0;
        for (; k + UNROLL <= k1; k += UNROLL) add_rows<UNROLL>(a + i * K + k, b + k * N, N, c + i * N, N);
        for (; k < k1; ++k) add_rows<1>(a + i * K + k, b + k * N, N, c + i * N, N);
      }
    }
  }
  return 0;
}
