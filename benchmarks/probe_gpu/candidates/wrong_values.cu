// Forgets the last tile's share of the sum: every element is about 3 % too large.
#include <cuda_bf16.h>
#include <cstdint>
__global__ void rows(const __nv_bfloat16* x, __nv_bfloat16* y, int64_t n) {
  __shared__ float sum;
  x += blockIdx.x * n; y += blockIdx.x * n;
  if (!threadIdx.x) sum = 0;
  __syncthreads();
  float own = 0;
  for (int64_t c = threadIdx.x; c < n - 256; c += 256) own += __expf(__bfloat162float(x[c]));
  for (int k = 16; k; k /= 2) own += __shfl_xor_sync(~0u, own, k);
  if (threadIdx.x % 32 == 0) atomicAdd(&sum, own);
  __syncthreads();
  for (int64_t c = threadIdx.x; c < n; c += 256)
    y[c] = __float2bfloat16(__expf(__bfloat162float(x[c])) / sum);
}
extern "C" int softmax(const __nv_bfloat16* x, __nv_bfloat16* y, int64_t M, int64_t N, cudaStream_t s) {
  rows<<<M, 256, 0, s>>>(x, y, N);
  return cudaGetLastError();
}
