// /// kernelwright
// strategy = "row in registers: one block a row, read once; each warp's moments about its own mean are merged after one barrier"
// tune.VECS = [4, 2, 8, 1]
// tune.MOST = [512, 256]
// tune.REGISTERS = [80, 64, 128]
// tune.EARLY = [1, 0]
// cures = ["memory bandwidth", "cancellation"]
// ///
// VECS: vectors of 16 bytes a thread; the block is as large as the row asks. MOST: threads of the largest block; a
// longer row gets more vectors a thread, one that 8 cannot hold is read three times. REGISTERS: of a thread.
// EARLY: 1 to read weights and biases before the barrier.
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

// What a warp knows of its elements: x how many, y a shift near their mean, z their mean about the shift, w the sum of
// squares about that mean. Large offsets stay in the shift and cancel exactly.
__device__ inline float4 moments(float count, float shift, float rest, float squares) {
  const float mean = count > 0.0f ? __fdividef(rest, count) : 0.0f;
  return make_float4(count, shift, mean, squares - rest * mean);
}

struct Row {
  float shift, mean, scale;  // of shift + mean
};

__device__ inline Row merged(const float4* part, int count, float n, float eps) {
  const float shift = part[0].y;
  float mean = 0.0f, squares = 0.0f;
#pragma unroll 1
  for (int p = threadIdx.x % 32; p < count; p += 32) mean += part[p].x * (part[p].y - shift + part[p].z);
  mean = __fdividef(warp_sum(mean), n);
#pragma unroll 1
  for (int p = threadIdx.x % 32; p < count; p += 32) {
    const float off = part[p].y - shift + part[p].z - mean;
    squares += part[p].w + part[p].x * off * off;
  }
  return {shift, mean, rsqrtf(__fdividef(warp_sum(squares), n) + eps)};
}

// Unpacking again is cheaper than the registers in which the compiler would keep what was unpacked.
__device__ inline void forget(uint4& raw) { asm volatile("" : "+r"(raw.x), "+r"(raw.y), "+r"(raw.z), "+r"(raw.w)); }

__device__ inline float total(const uint4& raw) {
  float f[LANES], sum = 0.0f;
  unpack(raw, f);
#pragma unroll
  for (int l = 0; l < LANES; ++l) sum += f[l];
  return sum;
}

__device__ inline void about(uint4 raw, bool here, float shift, float& rest, float& squares) {
  float f[LANES], sum = 0.0f, square = 0.0f;
  forget(raw);
  unpack(raw, f);
#pragma unroll
  for (int l = 0; l < LANES; ++l) f[l] = here ? f[l] - shift : 0.0f, sum += f[l], square += f[l] * f[l];
  rest += sum, squares += square;
}

__device__ inline uint4 normalized(uint4 raw, const Row& row, const uint4& weight, const uint4& bias) {
  float f[LANES], w[LANES], b[LANES];
  forget(raw);
  unpack(raw, f), unpack(weight, w), unpack(bias, b);
#pragma unroll
  for (int l = 0; l < LANES; ++l) f[l] = (f[l] - row.shift - row.mean) * row.scale * w[l] + b[l];
  return pack(f);
}

// Any row, read three times.
template <int L>
__global__ void __launch_bounds__(512) streamed(const T* __restrict__ x, const T* __restrict__ weight,
                                                const T* __restrict__ bias, T* __restrict__ y, float eps, int64_t n) {
  __shared__ float4 part[16];
  x += blockIdx.x * n, y += blockIdx.x * n;
  const int64_t first = threadIdx.x * L, step = blockDim.x * L;
  float f[L], w[L], b[L], count = 0.0f, sum = 0.0f, rest = 0.0f, squares = 0.0f;
  for (int64_t j = first; j < n; j += step, count += L) {
    read<L>(x + j, f);
    float few = f[0];
#pragma unroll
    for (int l = 1; l < L; ++l) few += f[l];
    sum += few;
  }
  count = warp_sum(count), sum = warp_sum(sum);
  const float shift = count > 0.0f ? __fdividef(sum, count) : 0.0f;
  for (int64_t j = first; j < n; j += step) {
    read<L>(x + j, f);
    float few = 0.0f, square = 0.0f;
#pragma unroll
    for (int l = 0; l < L; ++l) f[l] -= shift, few += f[l], square += f[l] * f[l];
    rest += few, squares += square;
  }
  rest = warp_sum(rest), squares = warp_sum(squares);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = moments(count, shift, rest, squares);
  __syncthreads();
  const Row row = merged(part, blockDim.x / 32, static_cast<float>(n), eps);
  for (int64_t j = first; j < n; j += step) {
    read<L>(x + j, f), read<L>(weight + j, w), read<L>(bias + j, b);
#pragma unroll
    for (int l = 0; l < L; ++l) f[l] = (f[l] - row.shift - row.mean) * row.scale * w[l] + b[l];
    write<L>(y + j, f);
  }
}

template <int V>
__global__ void __maxnreg__(V <= 4 ? REGISTERS : 128)
    held(const uint4* __restrict__ x, const uint4* __restrict__ weight, const uint4* __restrict__ bias,
         uint4* __restrict__ y, float eps, int vecs) {
  __shared__ float4 part[32];
  x += blockIdx.x * static_cast<int64_t>(vecs), y += blockIdx.x * static_cast<int64_t>(vecs);
  uint4 raw[V], w[V], b[V];
  float sum = 0.0f, rest = 0.0f, squares = 0.0f;
  int count = 0;  // of the warp's vectors
#pragma unroll
  for (int i = 0; i < V; ++i) {
    const int at = threadIdx.x + i * blockDim.x;
    raw[i] = at < vecs ? __ldcs(x + at) : make_uint4(0, 0, 0, 0);
    count += min(max(vecs - (at & ~31), 0), 32);
  }
#pragma unroll
  for (int i = 0; i < V; ++i) {
    const int at = min(threadIdx.x + i * blockDim.x, vecs - 1);
    if (EARLY) w[i] = __ldg(weight + at), b[i] = __ldg(bias + at);
  }
#pragma unroll
  for (int i = 0; i < V; ++i) sum += total(raw[i]);
  sum = warp_sum(sum);
  const float elements = count * LANES, shift = count ? __fdividef(sum, elements) : 0.0f;
#pragma unroll
  for (int i = 0; i < V; ++i)
    about(raw[i], threadIdx.x + i * blockDim.x < vecs, shift, rest, squares);
  rest = warp_sum(rest), squares = warp_sum(squares);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = moments(elements, shift, rest, squares);
  __syncthreads();
  const Row row = merged(part, blockDim.x / 32, static_cast<float>(vecs * LANES), eps);
#pragma unroll
  for (int i = 0; i < V; ++i) {
    const int at = threadIdx.x + i * blockDim.x;
    if (at >= vecs) continue;
    if (!EARLY) w[i] = __ldg(weight + at), b[i] = __ldg(bias + at);
    __stcs(y + at, normalized(raw[i], row, w[i], b[i]));
  }
}

template <int V>
int launch(const T* x, const T* weight, const T* bias, T* y, float eps, int64_t M, int64_t N, cudaStream_t stream) {
  const int vecs = static_cast<int>(N / LANES), threads = ((vecs + V - 1) / V + 31) / 32 * 32;
  if (V < 8 && threads > MOST) return launch<V < 8 ? 2 * V : 8>(x, weight, bias, y, eps, M, N, stream);
  held<V><<<static_cast<unsigned>(M), threads, 0, stream>>>(
      reinterpret_cast<const uint4*>(x), reinterpret_cast<const uint4*>(weight), reinterpret_cast<const uint4*>(bias),
      reinterpret_cast<uint4*>(y), eps, vecs);
  return cudaGetLastError();
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int layernorm(const T* x, const T* weight, const T* bias, T* y, float eps, int64_t M, int64_t N,
                         cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  const bool wide = N % LANES == 0 && aligned(x) && aligned(weight) && aligned(bias) && aligned(y);
  if (wide && N <= 512 * 8 * LANES) return launch<VECS>(x, weight, bias, y, eps, M, N, stream);
  if (wide) streamed<LANES><<<static_cast<unsigned>(M), 512, 0, stream>>>(x, weight, bias, y, eps, N);
  else streamed<1><<<static_cast<unsigned>(M), N < 2048 ? 128 : 512, 0, stream>>>(x, weight, bias, y, eps, N);
  return cudaGetLastError();
}
