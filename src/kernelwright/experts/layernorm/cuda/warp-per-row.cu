// /// kernelwright
// strategy = "warp per row: a row in the registers of one warp, mean and then squares about it by shuffles, no barrier"
// tune.WARPS = [4, 2, 8, 1]
// tune.HELD = [16, 32, 8]
// tune.REGISTERS = [168, 128, 248, 96]
// where = ["WARPS * REGISTERS <= 2048"]
// cures = ["barriers", "launch of many short rows"]
// ///
// WARPS: rows a block. HELD: vectors of 16 bytes that a lane holds at most; a longer row is read three times.
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

template <int L>
__device__ inline float total(const float (&f)[L]) {
  float sum = f[0];
#pragma unroll
  for (int l = 1; l < L; ++l) sum += f[l];
  return sum;
}

struct Row {
  float shift, scale, offset;  // y = (x - shift) * scale + offset, before weight and bias
};

// A large offset of the row stays in the shift and cancels exactly; two-byte elements are too coarse to need that.
__device__ inline Row row_of(float shift, float mean, float scale) {
  if (sizeof(T) == 2) return {0.0f, scale, -(shift + mean) * scale};
  return {shift, scale, -mean * scale};
}

// L elements' sums of what is left over the shift (rounding, for four-byte elements) and of its squares.
template <int L>
__device__ inline void about(const float (&f)[L], float shift, bool here, float& rest, float& squares) {
  float sum = 0.0f, square = 0.0f;
#pragma unroll
  for (int l = 0; l < L; ++l) {
    const float off = f[l] - shift;
    if (sizeof(T) == 4) sum += off;
    square += off * off;
  }
  rest += here ? sum : 0.0f, squares += here ? square : 0.0f;
}

template <int L>
__device__ inline void normalize(float (&f)[L], const Row& row, const float (&w)[L], const float (&b)[L]) {
#pragma unroll
  for (int l = 0; l < L; ++l) {
    if (sizeof(T) == 4) f[l] -= row.shift;
    f[l] = (f[l] * row.scale + row.offset) * w[l] + b[l];
  }
}

__device__ inline float total(const uint4& raw) {
  float f[LANES];
  unpack(raw, f);
  return total(f);
}

__device__ inline void about(const uint4& raw, float shift, bool here, float& rest, float& squares) {
  float f[LANES];
  unpack(raw, f);
  about(f, shift, here, rest, squares);
}

__device__ inline uint4 normalized(const uint4& raw, const Row& row, const uint4& weight, const uint4& bias) {
  float f[LANES], w[LANES], b[LANES];
  unpack(raw, f), unpack(weight, w), unpack(bias, b);
  normalize(f, row, w, b);
  return pack(f);
}

__device__ inline Row settled(float shift, float rest, float squares, float inverse, float eps) {
  const float mean = rest * inverse;
  return row_of(shift, mean, __frsqrt_rn(squares * inverse - mean * mean + eps));
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
__global__ void __maxnreg__(REGISTERS)
    held(const uint4* __restrict__ x, const uint4* __restrict__ weight, const uint4* __restrict__ bias,
         uint4* __restrict__ y, float eps, float inverse, int64_t M, int vecs) {
  const int64_t line = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (line >= M) return;
  x += line * vecs, y += line * vecs;
  uint4 raw[V];
  float sum = 0.0f, rest = 0.0f, squares = 0.0f;
#pragma unroll
  for (int i = 0; i < V; ++i) raw[i] = take(x, lane + 32 * i, vecs);
#pragma unroll
  for (int i = 0; i < V; ++i) sum += total(raw[i]);
  const float shift = warp_sum(sum) * inverse;
  forget(raw);
#pragma unroll
  for (int i = 0; i < V; ++i) about(raw[i], shift, lane + 32 * i < vecs, rest, squares);
  const Row row = settled(shift, warp_sum(rest), warp_sum(squares), inverse, eps);
  forget(raw);
#pragma unroll
  for (int i = 0; i < V; ++i) {
    const int at = lane + 32 * i;
    if (at < vecs) __stcs(y + at, normalized(raw[i], row, __ldg(weight + at), __ldg(bias + at)));
  }
}

// A few at a time, for smaller rounding errors.
template <int L>
__global__ void __launch_bounds__(32 * WARPS)
    streamed(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, T* __restrict__ y,
             float eps, float inverse, int64_t M, int64_t n) {
  constexpr int64_t STEP = 32 * L, FEW = 32 * STEP;
  const int64_t line = static_cast<int64_t>(blockIdx.x) * WARPS + threadIdx.x / 32, first = threadIdx.x % 32 * L;
  if (line >= M) return;
  x += line * n, y += line * n;
  float f[L], w[L], b[L], sum = 0.0f, rest = 0.0f, squares = 0.0f;
  for (int64_t begin = first; begin < n; begin += FEW) {
    float few = 0.0f;
    for (int64_t j = begin; j < min(begin + FEW, n); j += STEP) read<L>(x + j, f), few += total(f);
    sum += few;
  }
  const float shift = warp_sum(sum) * inverse;
  for (int64_t begin = first; begin < n; begin += FEW) {
    float few = 0.0f, square = 0.0f;
    for (int64_t j = begin; j < min(begin + FEW, n); j += STEP)
      read<L>(x + j, f), about(f, shift, true, few, square);
    rest += few, squares += square;
  }
  const Row row = settled(shift, warp_sum(rest), warp_sum(squares), inverse, eps);
  for (int64_t j = first; j < n; j += STEP) {
    read<L>(x + j, f), read<L>(weight + j, w), read<L>(bias + j, b);
    normalize(f, row, w, b);
    write<L>(y + j, f);
  }
}

template <int V>
void launch(const T* x, const T* weight, const T* bias, T* y, float eps, int64_t M, int64_t N, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>((M + WARPS - 1) / WARPS);
  if (V < HELD && N > 32 * V * LANES) launch<V < HELD ? 2 * V : V>(x, weight, bias, y, eps, M, N, stream);
  else if (N <= 32 * V * LANES)
    held<V><<<blocks, 32 * WARPS, 0, stream>>>(
        reinterpret_cast<const uint4*>(x), reinterpret_cast<const uint4*>(weight), reinterpret_cast<const uint4*>(bias),
        reinterpret_cast<uint4*>(y), eps, 1.0f / N, M, static_cast<int>(N / LANES));
  else streamed<LANES><<<blocks, 32 * WARPS, 0, stream>>>(x, weight, bias, y, eps, 1.0f / N, M, N);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int layernorm(const T* x, const T* weight, const T* bias, T* y, float eps, int64_t M, int64_t N,
                         cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  const unsigned blocks = static_cast<unsigned>((M + WARPS - 1) / WARPS);
  if (N % LANES == 0 && aligned(x) && aligned(weight) && aligned(bias) && aligned(y))
    launch<1>(x, weight, bias, y, eps, M, N, stream);
  else streamed<1><<<blocks, 32 * WARPS, 0, stream>>>(x, weight, bias, y, eps, 1.0f / N, M, N);
  return cudaGetLastError();
}
