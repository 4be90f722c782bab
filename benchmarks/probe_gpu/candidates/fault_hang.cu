// Never ends: waits for a word that nobody writes.
#include <cuda_bf16.h>
#include <cstdint>
__device__ volatile int never;
__global__ void wait() { while (!never) { } }
extern "C" int softmax(const __nv_bfloat16*, __nv_bfloat16*, int64_t, int64_t, cudaStream_t s) {
  wait<<<132, 128, 0, s>>>();
  return cudaGetLastError();
}
