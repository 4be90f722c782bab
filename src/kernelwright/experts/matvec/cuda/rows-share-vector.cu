// /// kernelwright
// strategy = "rows share the vector: one block takes several rows, so that each piece of the vector is read once for all of them"
// tune.THREADS = [256, 128, 512]
// tune.ROWS = [2, 4, 1, 8]
// tune.LOADS = [2, 1, 0]
// cures = ["memory bandwidth", "repeated reads of the vector"]
// ///
// LOADS: 0 as usual, 1 to let what is read leave the caches first, 2 past the first of them.
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

__device__ inline uint4 load(const uint4* p) {
  uint4 v;
  if (LOADS == 0) return __ldg(p);
  if (LOADS == 1) return __ldcs(p);
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
}

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
  else unpack(load(reinterpret_cast<const uint4*>(p)), f);
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
__global__ void __launch_bounds__(THREADS)
    products(const T* __restrict__ a, const T* __restrict__ x, T* __restrict__ y, int64_t M, int64_t K) {
  __shared__ float part[THREADS / 32][ROWS];
  const int64_t row = static_cast<int64_t>(blockIdx.x) * ROWS;
  const T* line[ROWS];
  float sums[ROWS] = {};
#pragma unroll
  for (int r = 0; r < ROWS; ++r) line[r] = a + min(row + r, M - 1) * K;  // a row beyond the last is read for nothing
  dot<L>(line, x, 0, K, threadIdx.x, THREADS, sums);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    sums[r] = warp_sum(sums[r]);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32][r] = sums[r];
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  for (int r = threadIdx.x / 32; r < ROWS && row + r < M; r += THREADS / 32) {
    const float sum = warp_sum(lane < THREADS / 32 ? part[lane][r] : 0.0f);
    if (lane == 0) y[row + r] = narrow<T>(sum);
  }
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int matvec(const T* a, const T* x, T* y, int64_t M, int64_t K, cudaStream_t stream) {
  if (M <= 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>((M + ROWS - 1) / ROWS);
  if (K % LANES == 0 && aligned(a) && aligned(x)) products<LANES><<<blocks, THREADS, 0, stream>>>(a, x, y, M, K);
  else products<1><<<blocks, THREADS, 0, stream>>>(a, x, y, M, K);
  return cudaGetLastError();
}
