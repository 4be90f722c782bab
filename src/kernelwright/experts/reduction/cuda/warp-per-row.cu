// /// kernelwright
// strategy = "warp per row: one warp sums a row, shuffles only, no barrier; resident warps walk over the rows"
// tune.WARPS = [8, 4, 16]
// tune.UNROLL = [8, 4, 16]
// tune.RESIDENT = [0, 16, 32, 64]
// where = ["M >= 32 or N <= 65536"]
// cures = ["barriers", "launch of many short rows"]
// ///
// WARPS: of a block. RESIDENT: warps of a multiprocessor that walk over all rows, 0 for one warp a row.
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

template <int L>
__device__ inline float total(const float (&f)[L]) {
  float sum = f[0];
#pragma unroll
  for (int l = 1; l < L; ++l) sum += f[l];
  return sum;
}

// Sum of what one of `step` neighbours takes of n elements: UNROLL reads are under way before the first is used, and a
// few at a time are added up, for smaller rounding errors. Reads beyond the end are of the first element, for nothing.
template <int L>
__device__ inline float sweep(const T* x, int64_t first, int64_t step, int64_t n) {
  float f[UNROLL][L], sum = 0.0f;
  step *= L;
  for (int64_t j = first * L; j < n;) {
    float few[UNROLL] = {};
    for (int turn = 0; turn < 16 && j + (UNROLL - 1) * step < n; ++turn, j += UNROLL * step) {
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) read<L>(x + j + u * step, f[u]);
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) few[u] += total(f[u]);
    }
    if (j < n && j + (UNROLL - 1) * step >= n) {
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) read<L>(j + u * step < n ? x + j + u * step : x, f[u]);
#pragma unroll
      for (int u = 0; u < UNROLL; ++u) few[u] += j + u * step < n ? total(f[u]) : 0.0f;
      j = n;
    }
    sum += total(few);
  }
  return sum;
}

template <int L>
__global__ void __launch_bounds__(32 * WARPS) rows(const T* __restrict__ x, T* __restrict__ y, int64_t M, int64_t n) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * WARPS;
  for (int64_t row = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / 32; row < M; row += step) {
    const float sum = warp_sum(sweep<L>(x + row * n, threadIdx.x % 32, 32, n));
    if (threadIdx.x % 32 == 0) y[row] = narrow<T>(sum);
  }
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int reduction(const T* x, T* y, int64_t M, int64_t N, cudaStream_t stream) {
  if (M <= 0) return cudaSuccess;
  int64_t blocks = (M + WARPS - 1) / WARPS;
  if (RESIDENT) {
    int device, cores;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device);
    const int64_t most = static_cast<int64_t>(cores) * (RESIDENT > WARPS ? RESIDENT / WARPS : 1);
    if (blocks > most) blocks = most;
  }
  if (N % LANES == 0 && aligned(x)) rows<LANES><<<static_cast<unsigned>(blocks), 32 * WARPS, 0, stream>>>(x, y, M, N);
  else rows<1><<<static_cast<unsigned>(blocks), 32 * WARPS, 0, stream>>>(x, y, M, N);
  return cudaGetLastError();
}
