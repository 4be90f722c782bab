// /// kernelwright
// strategy = "warp per rows: one warp takes a few rows, shuffles only, no barrier"
// tune.WARPS = [4, 8, 2]
// tune.ROWS = [2, 1, 4]
// cures = ["barriers", "short rows"]
// ///
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#ifndef DTYPE_T
#define DTYPE_T __nv_bfloat16
#endif

namespace {
using T = DTYPE_T;
constexpr int LANES = 16 / sizeof(T);  // elements of a 16-byte vector

template <class U>
__device__ inline float widen(U x) {
  if constexpr (std::is_same_v<U, __half>) return __half2float(x);
  else if constexpr (std::is_same_v<U, __nv_bfloat16>) return __bfloat162float(x);
  else return x;
}

template <class U>
__device__ inline U narrow(float x) {
  if constexpr (std::is_same_v<U, __half>) return __float2half_rn(x);
  else if constexpr (std::is_same_v<U, __nv_bfloat16>) return __float2bfloat16_rn(x);
  else return x;
}

// The elements of a 16-byte vector, and back.
template <class U = T>
__device__ inline void unpack(const uint4& raw, float (&f)[16 / sizeof(U)]) {
  const uint32_t word[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    float2 two = make_float2(__uint_as_float(word[w] << 16), __uint_as_float(word[w] & 0xffff0000u));
    if constexpr (std::is_same_v<U, __half>) two = __half22float2(reinterpret_cast<const __half2&>(word[w]));
    if constexpr (std::is_same_v<U, float>) f[w] = __uint_as_float(word[w]);
    else f[2 * w] = two.x, f[2 * w + 1] = two.y;
  }
}

// L neighbours: a 16-byte vector, or one element. What is read once is not worth a place in a cache.
template <int L>
__device__ inline void read(const T* p, float (&f)[L]) {
  if constexpr (L == 1) f[0] = widen(*p);
  else unpack(__ldcs(reinterpret_cast<const uint4*>(p)), f);
}

__device__ inline float warp_sum(float x) {
#pragma unroll
  for (int step = 16; step; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
}

// Adds to the sums of ROWS rows what one of `step` neighbours takes of the columns from begin to end; the vector's
// elements are read once for all rows. A few at a time are added up, for smaller rounding errors.
template <int L>
__device__ inline void dot(const T* const (&a)[ROWS], const T* x, int64_t begin, int64_t end, int64_t first,
                           int64_t step, float (&sums)[ROWS]) {
  for (step *= L; begin < end; begin += 16 * step) {
    const int64_t stop = min(begin + 16 * step, end);
    float few[ROWS] = {};
#pragma unroll 2
    for (int64_t k = begin + first * L; k < stop; k += step) {
      float f[ROWS][L], v[L];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) read<L>(a[r] + k, f[r]);
      if constexpr (L == 1) v[0] = widen(x[k]);
      else unpack(__ldg(reinterpret_cast<const uint4*>(x + k)), v);
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        float one = f[r][0] * v[0];
#pragma unroll
        for (int l = 1; l < L; ++l) one += f[r][l] * v[l];
        few[r] += one;
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) sums[r] += few[r];
  }
}

template <int L>
__global__ void __launch_bounds__(32 * WARPS)
    products(const T* __restrict__ a, const T* __restrict__ x, T* __restrict__ y, int64_t M, int64_t K) {
  const int64_t row = (static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / 32) * ROWS;
  if (row >= M) return;
  const T* line[ROWS];
  float sums[ROWS] = {};
#pragma unroll
  for (int r = 0; r < ROWS; ++r) line[r] = a + min(row + r, M - 1) * K;  // a row beyond the last is read for nothing
  dot<L>(line, x, 0, K, threadIdx.x % 32, 32, sums);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    const float sum = warp_sum(sums[r]);
    if (threadIdx.x % 32 == r && row + r < M) y[row + r] = narrow<T>(sum);
  }
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int matvec(const T* a, const T* x, T* y, int64_t M, int64_t K, cudaStream_t stream) {
  if (M <= 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>((M + WARPS * ROWS - 1) / (WARPS * ROWS));
  if (K % LANES == 0 && aligned(a) && aligned(x)) products<LANES><<<blocks, 32 * WARPS, 0, stream>>>(a, x, y, M, K);
  else products<1><<<blocks, 32 * WARPS, 0, stream>>>(a, x, y, M, K);
  return cudaGetLastError();
}
