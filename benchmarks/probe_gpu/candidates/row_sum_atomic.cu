// Blocks take pieces of rows and add atomically to outputs cleared before.
#include <cstdint>
constexpr int PIECE = 1024;
__global__ void pieces(const float4* x, float* y, int64_t N) {
  float4 v = x[(int64_t)blockIdx.x * (PIECE / 4) + threadIdx.x];
  float sum = (v.x + v.y) + (v.z + v.w);
  for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(~0u, sum, k);
  if (threadIdx.x % 32 == 0) atomicAdd(y + (int64_t)blockIdx.x * PIECE / N, sum);
}
extern "C" int row_sum(const float* x, float* y, int64_t M, int64_t N, cudaStream_t s) {
  if (N % PIECE) return 1;
  cudaMemsetAsync(y, 0, M * sizeof(float), s);
  pieces<<<M * N / PIECE, PIECE / 4, 0, s>>>((const float4*)x, y, N);
  return cudaGetLastError();
}
