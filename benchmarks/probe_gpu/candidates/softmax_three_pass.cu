// One block a row; the row is read three times: highest, sum, write.
#include <cuda_bf16.h>
#include <cstdint>
__device__ float joined(float x, bool highest) {
  __shared__ float part[32];
  for (int k = 16; k; k /= 2) {
    float other = __shfl_xor_sync(0xffffffff, x, k);
    x = highest ? fmaxf(x, other) : x + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  float all = part[0];
  for (int w = 1; w < blockDim.x / 32; ++w) all = highest ? fmaxf(all, part[w]) : all + part[w];
  return all;
}
__global__ void rows(const __nv_bfloat16* x, __nv_bfloat16* y, int64_t n) {
  x += blockIdx.x * n; y += blockIdx.x * n;
  float m = -3e38f, sum = 0;
  for (int64_t c = threadIdx.x; c < n; c += blockDim.x) m = fmaxf(m, __bfloat162float(x[c]));
  m = joined(m, true);
  for (int64_t c = threadIdx.x; c < n; c += blockDim.x) sum += __expf(__bfloat162float(x[c]) - m);
  sum = 1 / joined(sum, false);
  for (int64_t c = threadIdx.x; c < n; c += blockDim.x)
    y[c] = __float2bfloat16(__expf(__bfloat162float(x[c]) - m) * sum);
}
extern "C" int softmax(const __nv_bfloat16* x, __nv_bfloat16* y, int64_t M, int64_t N, cudaStream_t s) {
  rows<<<M, 512, 0, s>>>(x, y, N);
  return cudaGetLastError();
}
