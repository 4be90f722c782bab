// /// kernelwright
// strategy = "a 4 x 4 tile of named scalars written by macros, as one would for a compiler that does not unroll"
// flags = ["-O2", "-fno-tree-vectorize"]
// ///
#include <cstdint>

#define ROW(i) float c##i##0 = 0, c##i##1 = 0, c##i##2 = 0, c##i##3 = 0;
#define ADD(i)                                                       \
  {                                                                  \
    const float f = p[i * K + k];                                    \
    c##i##0 += f * q[0], c##i##1 += f * q[1], c##i##2 += f * q[2], c##i##3 += f * q[3]; \
  }
#define PUT(i) out[i * N] = c##i##0, out[i * N + 1] = c##i##1, out[i * N + 2] = c##i##2, out[i * N + 3] = c##i##3;

namespace {

void tile(const float* p, const float* q, float* out, int64_t N, int64_t K) {
  ROW(0) ROW(1) ROW(2) ROW(3)
  for (int64_t k = 0; k < K; ++k, q += N) { ADD(0) ADD(1) ADD(2) ADD(3) }
  PUT(0) PUT(1) PUT(2) PUT(3)
}

void single(const float* p, const float* q, float* out, int64_t N, int64_t K) {
  float sum = 0;
  for (int64_t k = 0; k < K; ++k) sum += p[k] * q[k * N];
  *out = sum;
}

}  // namespace

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
#pragma omp parallel for collapse(2)
  for (int64_t i = 0; i < M; i += 4)
    for (int64_t j = 0; j < N; j += 4) {
      if (i + 4 <= M && j + 4 <= N) {
        tile(a + i * K, b + j, c + i * N + j, N, K);
        continue;
      }
      for (int64_t r = i; r < M && r < i + 4; ++r)
        for (int64_t s = j; s < N && s < j + 4; ++s) single(a + r * K, b + s, c + r * N + s, N, K);
    }
  return 0;
}
