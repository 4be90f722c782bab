// /// kernelwright
// strategy = "warp per row: a row in the registers of one warp, shuffles only, no barrier; exponentials computed twice"
// tune.WARPS = [2, 4, 1, 8]
// tune.HELD = [32, 16, 8]
// cures = ["barriers", "launch of many short rows"]
// ///
// WARPS: rows a block. HELD: vectors of 16 bytes that a lane holds at most; a longer row is read twice.
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

// L neighbours: a 16-byte vector, or one element. What is read once is not worth a place in a cache.
template <int L>
__device__ inline void read(const T* p, float (&f)[L]) {
  if constexpr (L == 1) f[0] = widen(*p);
  else unpack(__ldcs(reinterpret_cast<const uint4*>(p)), f);
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

// Keeps the larger of each two elements; NaN loses and makes the sum NaN later.
__device__ inline void peak(uint4& best, const uint4& raw) {
  uint32_t* b = reinterpret_cast<uint32_t*>(&best);
  const uint32_t r[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    if constexpr (std::is_same_v<T, float>) {
      b[w] = __float_as_uint(fmaxf(__uint_as_float(b[w]), __uint_as_float(r[w])));
    } else {
      using Two = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;
      reinterpret_cast<Two&>(b[w]) = __hmax2(reinterpret_cast<Two&>(b[w]), reinterpret_cast<const Two&>(r[w]));
    }
  }
}

// The largest element, finite: a row that is -inf throughout ends as 0 / 0.
__device__ inline float largest(const uint4& best) {
  float f[LANES], top = -FLT_MAX;
  unpack(best, f);
#pragma unroll
  for (int l = 0; l < LANES; ++l) top = fmaxf(top, f[l]);
  return top;
}

// A vector of -inf.
constexpr uint32_t WORD = sizeof(T) == 4 ? 0xff800000u : std::is_same_v<T, __half> ? 0xfc00fc00u : 0xff80ff80u;
#define FILL make_uint4(WORD, WORD, WORD, WORD)

template <int V>
__global__ void __launch_bounds__(32 * WARPS)
    held(const uint4* __restrict__ x, uint4* __restrict__ y, int64_t M, int vecs) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= M) return;
  x += row * vecs, y += row * vecs;
  uint4 raw[V];
#pragma unroll
  for (int i = 0; i < V; ++i) raw[i] = lane + 32 * i < vecs ? __ldcs(x + lane + 32 * i) : FILL;
  float sum = 0.0f, f[LANES];
  uint4 best = raw[0];
#pragma unroll
  for (int i = 1; i < V; ++i) peak(best, raw[i]);
  const float top = warp_max(largest(best));
#pragma unroll
  for (int i = 0; i < V; ++i) {
    if (lane + 32 * i >= vecs) continue;
    unpack(raw[i], f);
#pragma unroll
    for (int l = 0; l < LANES; ++l) sum += exponential(f[l] - top);
  }
  const float scale = __fdividef(1.0f, warp_sum(sum));
#pragma unroll
  for (int i = 0; i < V; ++i) {
    if (lane + 32 * i >= vecs) continue;
    unpack(raw[i], f);
#pragma unroll
    for (int l = 0; l < LANES; ++l) f[l] = exponential(f[l] - top) * scale;
    __stcs(y + lane + 32 * i, pack(f));
  }
}

template <int L>
__global__ void __launch_bounds__(32 * WARPS)
    streamed(const T* __restrict__ x, T* __restrict__ y, int64_t M, int64_t n) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= M) return;
  x += row * n, y += row * n;
  float top = -FLT_MAX, sum = 0.0f;
  for (int64_t begin = lane * L; begin < n; begin += 32 * 32 * L) {  // a few at a time: smaller rounding errors
    float few = 0.0f;
    for (int64_t j = begin; j < min(begin + 32 * 32 * L, n); j += 32 * L) {
      float f[L], old = top;
      read<L>(x + j, f);
#pragma unroll
      for (int l = 0; l < L; ++l) top = fmaxf(top, f[l]);
      const float scale = exponential(old - top);
      sum *= scale, few *= scale;
#pragma unroll
      for (int l = 0; l < L; ++l) few += exponential(f[l] - top);
    }
    sum += few;
  }
  const float all = warp_max(top), scale = __fdividef(1.0f, warp_sum(sum * exponential(top - all)));
  for (int64_t j = lane * L; j < n; j += 32 * L) {
    float f[L];
    read<L>(x + j, f);
#pragma unroll
    for (int l = 0; l < L; ++l) f[l] = exponential(f[l] - all) * scale;
    write<L>(y + j, f);
  }
}

template <int V>
void launch(const T* x, T* y, int64_t M, int64_t N, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((M + WARPS - 1) / WARPS);
  if (V < HELD && N > 32 * V * LANES) launch<V < HELD ? 2 * V : V>(x, y, M, N, stream);
  else if (N <= 32 * V * LANES)
    held<V><<<blocks, 32 * WARPS, 0, stream>>>(reinterpret_cast<const uint4*>(x), reinterpret_cast<uint4*>(y), M,
                                               static_cast<int>(N / LANES));
  else streamed<LANES><<<blocks, 32 * WARPS, 0, stream>>>(x, y, M, N);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int softmax(const T* x, T* y, int64_t M, int64_t N, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  if (N % LANES == 0 && aligned(x) && aligned(y)) launch<1>(x, y, M, N, stream);
  else streamed<1><<<static_cast<unsigned>((M + WARPS - 1) / WARPS), 32 * WARPS, 0, stream>>>(x, y, M, N);
  return cudaGetLastError();
}
