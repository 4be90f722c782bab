// Writes far outside of anything that it owns.
#include <cuda_bf16.h>
#include <cstdint>
__global__ void far(__nv_bfloat16* y) { y[((int64_t)1 << 44) + threadIdx.x] = __float2bfloat16(1); }
extern "C" int softmax(const __nv_bfloat16*, __nv_bfloat16* y, int64_t, int64_t, cudaStream_t s) {
  far<<<1, 32, 0, s>>>(y);
  return cudaGetLastError();
}
