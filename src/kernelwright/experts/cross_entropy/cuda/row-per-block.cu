// /// kernelwright
// strategy = "row per block: one block reads a row once, maximum online, one rescale for several vectors"
// tune.THREADS = [256, 512, 128, 1024]
// tune.UNROLL = [1, 2, 4, 8]
// tune.LOADS = [1, 2, 0]
// cures = ["memory bandwidth", "repeated reads"]
// ///
// LOADS: 0 as usual, 1 to let what is read leave the caches first, 2 past the first of them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cfloat>
#include <cmath>
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

// e^x; below the smallest normal number 0.
__device__ inline float exponential(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x * 1.44269504f));
  return result;
}

__device__ inline float warp_max(float x) {
#pragma unroll
  for (int step = 16; step; step /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, step));
  return x;
}

__device__ inline float warp_sum(float x) {
#pragma unroll
  for (int step = 16; step; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
}

// Adds L elements to a maximum and a sum of exponentials relative to it. The maximum begins finite, so that rows that
// are -inf throughout still end as NaN.
template <int L>
__device__ inline void absorb(const float (&f)[L], float& top, float& sum) {
  const float old = top;
#pragma unroll
  for (int l = 0; l < L; ++l) top = fmaxf(top, f[l]);
  sum *= exponential(old - top);
#pragma unroll
  for (int l = 0; l < L; ++l) sum += exponential(f[l] - top);
}

// What one of `step` neighbours takes of n elements: UNROLL reads are under way before the first is used. Reads beyond
// the end are of the first element, for nothing.
template <int L>
__device__ inline float2 sweep(const T* x, int64_t first, int64_t step, int64_t n) {
  float top = -FLT_MAX, sum = 0.0f, f[UNROLL * L], g[L];
  int64_t j = first * L;
  for (step *= L; j + (UNROLL - 1) * step < n; j += UNROLL * step) {
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      read<L>(x + j + u * step, g);
#pragma unroll
      for (int l = 0; l < L; ++l) f[u * L + l] = g[l];
    }
    absorb(f, top, sum);
  }
  if (j >= n) return make_float2(top, sum);
#pragma unroll
  for (int u = 0; u < UNROLL; ++u) {
    const bool here = j + u * step < n;
    read<L>(here ? x + j + u * step : x, g);
#pragma unroll
    for (int l = 0; l < L; ++l) f[u * L + l] = here ? g[l] : -INFINITY;
  }
  absorb(f, top, sum);
  return make_float2(top, sum);
}

// Joins the maxima and sums of a warp's lanes; every lane gets the result.
__device__ inline float2 joined(float2 mine) {
  const float top = warp_max(mine.x);
  return make_float2(top, warp_sum(mine.y * exponential(mine.x - top)));
}

__device__ inline float2 over_block(float2 mine) {
  __shared__ float2 part[THREADS / 32];
  mine = joined(mine);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
  __syncthreads();
  return joined(threadIdx.x % 32 < THREADS / 32 ? part[threadIdx.x % 32] : make_float2(-FLT_MAX, 0.0f));
}

__device__ inline T loss_of(float2 all, T label) { return narrow<T>(logf(all.y) - (widen(label) - all.x)); }

template <int L>
__global__ void __launch_bounds__(THREADS)
    rows(const T* __restrict__ logits, const int64_t* __restrict__ labels, T* __restrict__ loss, int64_t V) {
  const T* row = logits + blockIdx.x * V;
  T label;
  if (threadIdx.x == 0) label = row[labels[blockIdx.x]];
  const float2 all = over_block(sweep<L>(row, threadIdx.x, THREADS, V));
  if (threadIdx.x == 0) loss[blockIdx.x] = loss_of(all, label);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int cross_entropy(const T* logits, const int64_t* labels, T* loss, int64_t N, int64_t V,
                             cudaStream_t stream) {
  if (N <= 0 || V <= 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>(N);
  if (V % LANES == 0 && aligned(logits)) rows<LANES><<<blocks, THREADS, 0, stream>>>(logits, labels, loss, V);
  else rows<1><<<blocks, THREADS, 0, stream>>>(logits, labels, loss, V);
  return cudaGetLastError();
}
