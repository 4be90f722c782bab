// /// kernelwright
// strategy = "row in registers: one block a row, read once; mean and squares about it by two barriers"
// tune.VECS = [4, 2, 8]
// tune.MOST = [512, 256, 1024]
// tune.REGISTERS = [64, 80, 128]
// tune.EARLY = [0, 1]
// tune.STREAM = [0, 1]
// where = ["MOST * REGISTERS <= 65536"]
// cures = ["memory bandwidth", "cancellation"]
// ///
// VECS: vectors of 16 bytes a thread; the block is as large as the row asks. MOST: threads of the largest block; a
// longer row gets more vectors a thread, one that 8 cannot hold is read three times. REGISTERS: of a thread.
// EARLY: 1 to read weights and biases before the barrier. STREAM: 1 to let rows leave the caches first.
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

__device__ inline uint4 load(const uint4* p) { return STREAM ? __ldcs(p) : __ldg(p); }

__device__ inline void store(uint4* p, const uint4& v) {
  if (STREAM) __stcs(p, v);
  else *p = v;
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
  else store(reinterpret_cast<uint4*>(p), pack(f));
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

// Sums over the block; part holds one of each warp. Two calls in a row need two of them.
__device__ inline float2 over_block(float a, float b, float2* part) {
  const int lane = threadIdx.x % 32;
  a = warp_sum(a), b = warp_sum(b);
  if (lane == 0) part[threadIdx.x / 32] = make_float2(a, b);
  __syncthreads();
  const float2 mine = lane < blockDim.x / 32 ? part[lane] : make_float2(0.0f, 0.0f);
  return make_float2(warp_sum(mine.x), warp_sum(mine.y));
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

__device__ inline uint4 take(const uint4* p, int at, int end) { return at < end ? load(p + at) : uint4{}; }

// Any row, read three times.
template <int L>
__global__ void __launch_bounds__(512)
    streamed(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, T* __restrict__ y,
             float eps, float inverse, int64_t n) {
  __shared__ float2 part[2][16];
  x += blockIdx.x * n, y += blockIdx.x * n;
  const int64_t first = threadIdx.x * L, step = blockDim.x * L;
  float f[L], w[L], b[L], sum = 0.0f, rest = 0.0f, squares = 0.0f;
  for (int64_t j = first; j < n; j += step) read<L>(x + j, f), sum += total(f);
  const float shift = over_block(sum, 0.0f, part[0]).x * inverse;
  for (int64_t j = first; j < n; j += step) read<L>(x + j, f), about(f, shift, true, rest, squares);
  const float2 sums = over_block(rest, squares, part[1]);
  const Row row = settled(shift, sums.x, sums.y, inverse, eps);
  for (int64_t j = first; j < n; j += step) {
    read<L>(x + j, f), read<L>(weight + j, w), read<L>(bias + j, b);
    normalize(f, row, w, b);
    write<L>(y + j, f);
  }
}

// BLOCK: threads of a block that the row fills exactly, so that no masks and addresses take registers; or 0.
template <int V, int BLOCK>
__global__ void __maxnreg__(REGISTERS)
    held(const uint4* __restrict__ x, const uint4* __restrict__ weight, const uint4* __restrict__ bias,
         uint4* __restrict__ y, float eps, float inverse, int vecs) {
  __shared__ float2 part[2][32];
  const int step = BLOCK ? BLOCK : blockDim.x;
  x += blockIdx.x * static_cast<int64_t>(vecs), y += blockIdx.x * static_cast<int64_t>(vecs);
  uint4 raw[V], w[V], b[V];
  float f[LANES], g[LANES], h[LANES], sum = 0.0f, rest = 0.0f, squares = 0.0f;
#pragma unroll
  for (int i = 0; i < V; ++i) raw[i] = take(x, threadIdx.x + i * step, BLOCK ? 0x7fffffff : vecs);
#pragma unroll
  for (int i = 0; i < V; ++i) {
    const int at = min(threadIdx.x + i * step, BLOCK ? 0x7fffffff : vecs - 1);
    if (EARLY) w[i] = __ldg(weight + at), b[i] = __ldg(bias + at);
  }
#pragma unroll
  for (int i = 0; i < V; ++i) unpack(raw[i], f), sum += total(f);
  const float shift = over_block(sum, 0.0f, part[0]).x * inverse;
  forget(raw);
#pragma unroll
  for (int i = 0; i < V; ++i)
    unpack(raw[i], f), about(f, shift, BLOCK || threadIdx.x + i * step < vecs, rest, squares);
  const float2 sums = over_block(rest, squares, part[1]);
  const Row row = settled(shift, sums.x, sums.y, inverse, eps);
  forget(raw);
#pragma unroll
  for (int i = 0; i < V; ++i) {
    const int at = threadIdx.x + i * step;
    if (!BLOCK && at >= vecs) continue;
    if (!EARLY) w[i] = __ldg(weight + at), b[i] = __ldg(bias + at);
    unpack(raw[i], f), unpack(w[i], g), unpack(b[i], h);
    normalize(f, row, g, h);
    store(y + at, pack(f));
  }
}

template <int V>
int launch(const T* x, const T* weight, const T* bias, T* y, float eps, int64_t M, int64_t N, cudaStream_t stream) {
  const int vecs = static_cast<int>(N / LANES), threads = ((vecs + V - 1) / V + 31) / 32 * 32;
  if (V < 8 && threads > MOST) return launch<V < 8 ? 2 * V : 8>(x, weight, bias, y, eps, M, N, stream);
  const auto kernel = vecs == V * 128   ? held<V, 128>
                      : vecs == V * 256 ? held<V, 256>
                      : vecs == V * 512 ? held<V, 512>
                                        : held<V, 0>;
  kernel<<<static_cast<unsigned>(M), threads, 0, stream>>>(
      reinterpret_cast<const uint4*>(x), reinterpret_cast<const uint4*>(weight), reinterpret_cast<const uint4*>(bias),
      reinterpret_cast<uint4*>(y), eps, 1.0f / N, vecs);
  return cudaGetLastError();
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int layernorm(const T* x, const T* weight, const T* bias, T* y, float eps, int64_t M, int64_t N,
                         cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  const bool wide = N % LANES == 0 && aligned(x) && aligned(weight) && aligned(bias) && aligned(y);
  const unsigned blocks = static_cast<unsigned>(M);
  if (wide && N <= MOST * 8 * LANES) return launch<VECS>(x, weight, bias, y, eps, M, N, stream);
  if (wide) streamed<LANES><<<blocks, 512, 0, stream>>>(x, weight, bias, y, eps, 1.0f / N, N);
  else streamed<1><<<blocks, N < 2048 ? 128 : 512, 0, stream>>>(x, weight, bias, y, eps, 1.0f / N, N);
  return cudaGetLastError();
}
