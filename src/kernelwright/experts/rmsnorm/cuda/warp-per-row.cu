// /// kernelwright
// strategy = "warp per row: a row in the registers of one warp, shuffles only, no barrier"
// tune.WARPS = [4, 2, 8, 1]
// tune.HELD = [16, 32, 8]
// tune.REGISTERS = [168, 128, 248, 96]
// where = ["WARPS * REGISTERS <= 2048"]
// cures = ["barriers", "launch of many short rows"]
// ///
// WARPS: rows a block. HELD: vectors of 16 bytes that a lane holds at most; a longer row is read twice.
// REGISTERS: of a thread.
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

// L neighbours: a 16-byte vector, or one element.
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

__device__ inline float warp_sum(float x) {
#pragma unroll
  for (int step = 16; step; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
}

__device__ inline float squares(const uint4& raw) {
  float f[LANES], sum = 0.0f;
  unpack(raw, f);
#pragma unroll
  for (int l = 0; l < LANES; ++l) sum += f[l] * f[l];
  return sum;
}

__device__ inline uint4 scaled(const uint4& raw, float scale, const uint4& weight) {
  float f[LANES], w[LANES];
  unpack(raw, f), unpack(weight, w);
#pragma unroll
  for (int l = 0; l < LANES; ++l) f[l] = f[l] * scale * w[l];
  return pack(f);
}

// Where registers are short, unpacking again is cheaper than what the compiler would keep unpacked.
template <int V>
__device__ inline void forget(uint4 (&raw)[V]) {
#pragma unroll
  for (int i = 0; i < V; ++i)
    if (V > 4) asm volatile("" : "+r"(raw[i].x), "+r"(raw[i].y), "+r"(raw[i].z), "+r"(raw[i].w));
}

__device__ inline uint4 take(const uint4* p, int at, int end) { return at < end ? __ldcs(p + at) : uint4{}; }

template <int V>
__global__ void __maxnreg__(REGISTERS) held(const uint4* __restrict__ x, const uint4* __restrict__ weight,
                                            uint4* __restrict__ y, float eps, float inverse, int64_t M, int vecs) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= M) return;
  x += row * vecs, y += row * vecs;
  uint4 raw[V];
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < V; ++i) raw[i] = take(x, lane + 32 * i, vecs);
#pragma unroll
  for (int i = 0; i < V; ++i) sum += squares(raw[i]);
  const float scale = __frsqrt_rn(warp_sum(sum) * inverse + eps);
  forget(raw);
#pragma unroll
  for (int i = 0; i < V; ++i)
    if (lane + 32 * i < vecs) __stcs(y + lane + 32 * i, scaled(raw[i], scale, __ldg(weight + lane + 32 * i)));
}

template <int L>
__global__ void __launch_bounds__(32 * WARPS) streamed(const T* __restrict__ x, const T* __restrict__ weight,
                                                       T* __restrict__ y, float eps, float inverse, int64_t M,
                                                       int64_t n) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= M) return;
  x += row * n, y += row * n;
  float f[L], w[L], sum = 0.0f;
  for (int64_t begin = lane * L; begin < n; begin += 32 * 32 * L) {  // a few at a time: smaller rounding errors
    float few = 0.0f;
    for (int64_t j = begin; j < n && j < begin + 32 * 32 * L; j += 32 * L) {
      read<L>(x + j, f);
#pragma unroll
      for (int l = 0; l < L; ++l) few += f[l] * f[l];
    }
    sum += few;
  }
  const float scale = __frsqrt_rn(warp_sum(sum) * inverse + eps);
  for (int64_t j = lane * L; j < n; j += 32 * L) {
    read<L>(x + j, f), read<L>(weight + j, w);
#pragma unroll
    for (int l = 0; l < L; ++l) f[l] = f[l] * scale * w[l];
    write<L>(y + j, f);
  }
}

template <int V>
void launch(const T* x, const T* weight, T* y, float eps, int64_t M, int64_t N, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((M + WARPS - 1) / WARPS);
  if (V < HELD && N > 32 * V * LANES) launch<V < HELD ? 2 * V : V>(x, weight, y, eps, M, N, stream);
  else if (N <= 32 * V * LANES)
    held<V><<<blocks, 32 * WARPS, 0, stream>>>(
        reinterpret_cast<const uint4*>(x), reinterpret_cast<const uint4*>(weight), reinterpret_cast<uint4*>(y), eps,
        1.0f / N, M, static_cast<int>(N / LANES));
  else streamed<LANES><<<blocks, 32 * WARPS, 0, stream>>>(x, weight, y, eps, 1.0f / N, M, N);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int rmsnorm(const T* x, const T* weight, T* y, float eps, int64_t M, int64_t N, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>((M + WARPS - 1) / WARPS);
  if (N % LANES == 0 && aligned(x) && aligned(weight) && aligned(y)) launch<1>(x, weight, y, eps, M, N, stream);
  else streamed<1><<<blocks, 32 * WARPS, 0, stream>>>(x, weight, y, eps, 1.0f / N, M, N);
  return cudaGetLastError();
}
