// /// kernelwright
// strategy = "split row: many blocks share a row; one launch leaves maximum and sum of each piece, the next one joins them and writes"
// tune.THREADS = [128, 256, 512]
// tune.PIECE = [4096, 8192, 16384, 32768]
// cures = ["few long rows", "idle multiprocessors"]
// ///
// PIECE: elements of a row that one block takes.
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

template <class U = T>
__device__ inline uint4 pack(const float (&f)[16 / sizeof(U)]) {
  if constexpr (std::is_same_v<U, float>) {
    return make_uint4(__float_as_uint(f[0]), __float_as_uint(f[1]), __float_as_uint(f[2]), __float_as_uint(f[3]));
  } else {
    using Two = std::conditional_t<std::is_same_v<U, __half>, __half2, __nv_bfloat162>;
    uint4 raw;
    Two* two = reinterpret_cast<Two*>(&raw);
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      if constexpr (std::is_same_v<U, __half>) two[w] = __floats2half2_rn(f[2 * w], f[2 * w + 1]);
      else two[w] = __floats2bfloat162_rn(f[2 * w], f[2 * w + 1]);
    }
    return raw;
  }
}

// L neighbours: a 16-byte vector, or one element. The cache keeps it for the second launch.
template <int L>
__device__ inline void read(const T* p, float (&f)[L]) {
  if constexpr (L == 1) f[0] = widen(*p);
  else unpack(__ldg(reinterpret_cast<const uint4*>(p)), f);
}

template <int L>
__device__ inline void write(T* p, const float (&f)[L]) {
  if constexpr (L == 1) *p = narrow<T>(f[0]);
  else __stcs(reinterpret_cast<uint4*>(p), pack(f));
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

// Maximum and sum of exponentials over all that the threads hold of them.
__device__ inline float2 over_block(float top, float sum) {
  __shared__ float2 part[THREADS / 32];
  const float warp_top = warp_max(top);
  sum = warp_sum(sum * exponential(top - warp_top));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = make_float2(warp_top, sum);
  __syncthreads();
  float2 all = part[0];
  for (int w = 1; w < THREADS / 32; ++w) all.x = fmaxf(all.x, part[w].x);
  all.y = 0.0f;
  for (int w = 0; w < THREADS / 32; ++w) all.y += part[w].y * exponential(part[w].x - all.x);
  return all;
}

// A thread without elements keeps a finite maximum, so that rows that are -inf throughout still end as 0 / 0.
template <int L>
__global__ void __launch_bounds__(THREADS) pieces(const T* __restrict__ x, float2* found, int64_t n, int64_t count) {
  const int64_t row = blockIdx.x / count, begin = blockIdx.x % count * PIECE, end = min(begin + PIECE, n);
  x += row * n;
  float top = -FLT_MAX, sum = 0.0f;
#pragma unroll 4
  for (int64_t j = begin + threadIdx.x * L; j < end; j += THREADS * L) {
    float f[L], old = top;
    read<L>(x + j, f);
#pragma unroll
    for (int l = 0; l < L; ++l) top = fmaxf(top, f[l]);
    sum *= exponential(old - top);
#pragma unroll
    for (int l = 0; l < L; ++l) sum += exponential(f[l] - top);
  }
  const float2 all = over_block(top, sum);
  if (threadIdx.x == 0) found[blockIdx.x] = all;
}

template <int L>
__global__ void __launch_bounds__(THREADS)
    joined(const T* __restrict__ x, T* __restrict__ y, const float2* __restrict__ found, int64_t n, int64_t count) {
  const int64_t row = blockIdx.x / count, begin = blockIdx.x % count * PIECE, end = min(begin + PIECE, n);
  x += row * n, y += row * n, found += row * count;
  float top = -FLT_MAX, sum = 0.0f;
  for (int64_t p = threadIdx.x; p < count; p += THREADS) {
    const float2 piece = found[p];
    const float old = top;
    top = fmaxf(top, piece.x);
    sum = sum * exponential(old - top) + piece.y * exponential(piece.x - top);
  }
  const float2 all = over_block(top, sum);
  const float scale = __fdividef(1.0f, all.y);
#pragma unroll 4
  for (int64_t j = begin + threadIdx.x * L; j < end; j += THREADS * L) {
    float f[L];
    read<L>(x + j, f);
#pragma unroll
    for (int l = 0; l < L; ++l) f[l] = exponential(f[l] - all.x) * scale;
    write<L>(y + j, f);
  }
}

int64_t pieces_of(int64_t N) { return (N + PIECE - 1) / PIECE; }

template <int L>
void launch(const T* x, T* y, int64_t M, int64_t N, float2* found, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>(M * pieces_of(N));
  pieces<L><<<blocks, THREADS, 0, stream>>>(x, found, N, pieces_of(N));
  joined<L><<<blocks, THREADS, 0, stream>>>(x, y, found, N, pieces_of(N));
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int64_t softmax_workspace(int64_t M, int64_t N) { return M * pieces_of(N) * sizeof(float2); }

extern "C" int softmax(const T* x, T* y, int64_t M, int64_t N, void* workspace, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  if (N % LANES == 0 && aligned(x) && aligned(y)) launch<LANES>(x, y, M, N, static_cast<float2*>(workspace), stream);
  else launch<1>(x, y, M, N, static_cast<float2*>(workspace), stream);
  return cudaGetLastError();
}
