// An empty kernel: the least that a launch measures.
#include <cuda_bf16.h>
#include <cstdint>
__global__ void nothing() {}
extern "C" int softmax(const __nv_bfloat16*, __nv_bfloat16*, int64_t, int64_t, cudaStream_t s) {
  nothing<<<1, 32, 0, s>>>();
  return cudaGetLastError();
}
