// The row waits in dynamic shared memory as float32 between the passes.
#include <cuda_bf16.h>
#include <cstdint>
__global__ void rows(const __nv_bfloat162* x, __nv_bfloat162* y, int n) {
  extern __shared__ float2 row[];
  __shared__ float part[16], total[16];
  x += (int64_t)blockIdx.x * n; y += (int64_t)blockIdx.x * n;
  float m = -3e38f, sum = 0;
  for (int c = threadIdx.x; c < n; c += 512) {
    row[c] = __bfloat1622float2(x[c]);
    m = fmaxf(m, fmaxf(row[c].x, row[c].y));
  }
  for (int k = 16; k; k /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, k));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
  __syncthreads();
  for (int w = 0; w < 16; ++w) m = fmaxf(m, part[w]);
  for (int c = threadIdx.x; c < n; c += 512) {
    row[c] = make_float2(__expf(row[c].x - m), __expf(row[c].y - m));
    sum += row[c].x + row[c].y;
  }
  for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
  if (threadIdx.x % 32 == 0) total[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < 16; ++w) sum += total[w];
  sum = 1 / sum;
  for (int c = threadIdx.x; c < n; c += 512)
    y[c] = __floats2bfloat162_rn(row[c].x * sum, row[c].y * sum);
}
extern "C" int softmax(const __nv_bfloat162* x, __nv_bfloat162* y, int64_t M, int64_t N, cudaStream_t s) {
  rows<<<M, 512, N * 4, s>>>(x, y, (int)(N / 2));
  return cudaGetLastError();
}
