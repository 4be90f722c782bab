// /// kernelwright
// strategy = "split row: many blocks share a row and leave a partial sum each, the next launch joins them in their order"
// tune.THREADS = [128, 256, 512]
// tune.UNROLL = [4, 8, 2, 16]
// tune.PIECE = [16384, 32768, 65536, 131072, 262144]
// tune.LOADS = [2, 1, 0]
// cures = ["few long rows", "idle multiprocessors"]
// ///
// PIECE: elements of a row that one block takes; a row of no more needs no second launch.
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

__device__ inline float block_sum(float x) {
  __shared__ float part[THREADS / 32];
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  return warp_sum(threadIdx.x % 32 < THREADS / 32 ? part[threadIdx.x % 32] : 0.0f);
}

template <int L>
__global__ void __launch_bounds__(THREADS)
    pieces(const T* __restrict__ x, T* __restrict__ y, float* __restrict__ found, int64_t n, int64_t count) {
  const int64_t row = blockIdx.x / count, begin = blockIdx.x % count * PIECE;
  const int64_t size = n - begin < PIECE ? n - begin : PIECE;
  const float sum = block_sum(sweep<L>(x + row * n + begin, threadIdx.x, THREADS, size));
  if (threadIdx.x) return;
  if (count == 1) y[row] = narrow<T>(sum);
  else found[blockIdx.x] = sum;
}

__global__ void __launch_bounds__(THREADS) joined(const float* __restrict__ found, T* __restrict__ y, int64_t count) {
  float sum = 0.0f;
  for (int64_t p = threadIdx.x; p < count; p += THREADS) sum += found[blockIdx.x * count + p];
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = narrow<T>(sum);
}

int64_t pieces_of(int64_t N) { return N > PIECE ? (N + PIECE - 1) / PIECE : 1; }

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int64_t reduction_workspace(int64_t M, int64_t N) { return M * pieces_of(N) * sizeof(float); }

extern "C" int reduction(const T* x, T* y, int64_t M, int64_t N, void* workspace, cudaStream_t stream) {
  if (M <= 0) return cudaSuccess;
  float* found = static_cast<float*>(workspace);
  const int64_t count = pieces_of(N);
  const unsigned blocks = static_cast<unsigned>(M * count);
  if (N % LANES == 0 && aligned(x)) pieces<LANES><<<blocks, THREADS, 0, stream>>>(x, y, found, N, count);
  else pieces<1><<<blocks, THREADS, 0, stream>>>(x, y, found, N, count);
  if (count > 1) joined<<<static_cast<unsigned>(M), THREADS, 0, stream>>>(found, y, count);
  return cudaGetLastError();
}
