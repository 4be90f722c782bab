// One pass: 16-byte loads, a whole row of at most 8192 in the registers of 256 threads.
// REPEATED adds that many percent of rows again: a slowdown of known size, results unchanged.
#include <cuda_bf16.h>
#include <cstdint>
#ifndef REPEATED
#define REPEATED 0
#endif
constexpr int THREADS = 256, WIDE = 8192 / THREADS / 8;
template <bool HIGHEST> __device__ float joined(float x) {
  __shared__ float part[THREADS / 32];
  for (int k = 16; k; k /= 2) {
    float other = __shfl_xor_sync(~0u, x, k);
    x = HIGHEST ? fmaxf(x, other) : x + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  float all = part[0];
  for (int w = 1; w < THREADS / 32; ++w) all = HIGHEST ? fmaxf(all, part[w]) : all + part[w];
  return all;
}
__global__ void __launch_bounds__(THREADS) rows(const uint4* x, uint4* y, int64_t M, int64_t wide) {
  const int64_t row = blockIdx.x % M;
  x += row * wide; y += row * wide;
  uint4 raw[WIDE];
  float v[WIDE][8], m = -3e38f, sum = 0;
#pragma unroll
  for (int i = 0; i < WIDE; ++i) {
    const int64_t at = threadIdx.x + i * THREADS;
    raw[i] = at < wide ? __ldcs(x + at) : make_uint4(0xff80ff80, 0xff80ff80, 0xff80ff80, 0xff80ff80);
  }
#pragma unroll
  for (int i = 0; i < WIDE; ++i) {
    const uint32_t* word = (const uint32_t*)&raw[i];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      v[i][2 * k] = __uint_as_float(word[k] << 16);
      v[i][2 * k + 1] = __uint_as_float(word[k] & 0xffff0000u);
      m = fmaxf(m, fmaxf(v[i][2 * k], v[i][2 * k + 1]));
    }
  }
  m = joined<true>(m);
#pragma unroll
  for (int i = 0; i < WIDE; ++i)
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += v[i][k] = __expf(v[i][k] - m);
  sum = 1 / joined<false>(sum);
#pragma unroll
  for (int i = 0; i < WIDE; ++i) {
    const int64_t at = threadIdx.x + i * THREADS;
    __nv_bfloat162 out[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) out[k] = __floats2bfloat162_rn(v[i][2 * k] * sum, v[i][2 * k + 1] * sum);
    if (at < wide) __stcs(y + at, *(uint4*)out);
  }
}
extern "C" int softmax(const uint4* x, uint4* y, int64_t M, int64_t N, cudaStream_t s) {
  if (N > 8192 || N % 8) return 1;
  rows<<<M + M * REPEATED / 100, THREADS, 0, s>>>(x, y, M, N / 8);
  return cudaGetLastError();
}
