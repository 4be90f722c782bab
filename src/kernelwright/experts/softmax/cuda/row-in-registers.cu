// /// kernelwright
// strategy = "row in registers: one block a row, read once, one barrier; exponentials are kept, or made again where registers are short"
// tune.VECS = [2, 4, 8]
// tune.MOST = [512, 256, 1024]
// tune.KEPT = [4, 0, 8]
// tune.REGISTERS = [64, 48, 80, 128]
// tune.STREAM = [0, 1]
// where = ["MOST * REGISTERS <= 65536"]
// cures = ["memory bandwidth", "barriers"]
// ///
// VECS: vectors of 16 bytes a thread; the block is as large as the row asks. MOST: threads of the largest block; a
// longer row gets more vectors a thread, one that 8 cannot hold is read twice. KEPT: vectors a thread up to which
// exponentials are kept. REGISTERS: of a thread.
// STREAM: 1 to let what is read and written leave the caches first.
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

// L neighbours: a 16-byte vector, or one element. What is read once is not worth a place in a cache.
template <int L>
__device__ inline void read(const T* p, float (&f)[L]) {
  if constexpr (L == 1) f[0] = widen(*p);
  else unpack(load(reinterpret_cast<const uint4*>(p)), f);
}

template <int L>
__device__ inline void write(T* p, const float (&f)[L]) {
  if constexpr (L == 1) *p = narrow<T>(f[0]);
  else store(reinterpret_cast<uint4*>(p), pack(f));
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

// Maximum and sum of exponentials of the block's row, from those of each warp; part holds one of each.
__device__ inline float2 combined(const float2* part, int count) {
  const int lane = threadIdx.x % 32;
  const float2 mine = lane < count ? part[lane] : make_float2(-FLT_MAX, 0.0f);
  const float top = warp_max(mine.x);
  return make_float2(top, warp_sum(mine.y * exponential(mine.x - top)));
}

// Any row: read twice, the maximum online. A thread without elements keeps a finite maximum, so that rows that are
// -inf throughout still end as 0 / 0.
template <int L>
__global__ void __launch_bounds__(512) streamed(const T* __restrict__ x, T* __restrict__ y, int64_t n) {
  __shared__ float2 part[32];
  x += blockIdx.x * n, y += blockIdx.x * n;
  const int64_t first = threadIdx.x * L, step = blockDim.x * L;
  float top = -FLT_MAX, sum = 0.0f;
  for (int64_t j = first; j < n; j += step) {
    float f[L], old = top;
    read<L>(x + j, f);
#pragma unroll
    for (int l = 0; l < L; ++l) top = fmaxf(top, f[l]);
    sum *= exponential(old - top);
#pragma unroll
    for (int l = 0; l < L; ++l) sum += exponential(f[l] - top);
  }
  const float warp_top = warp_max(top);
  sum = warp_sum(sum * exponential(top - warp_top));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = make_float2(warp_top, sum);
  __syncthreads();
  const float2 all = combined(part, blockDim.x / 32);
  const float scale = __fdividef(1.0f, all.y);
  for (int64_t j = first; j < n; j += step) {
    float f[L];
    read<L>(x + j, f);
#pragma unroll
    for (int l = 0; l < L; ++l) f[l] = exponential(f[l] - all.x) * scale;
    write<L>(y + j, f);
  }
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

// Where registers are short, unpacking again is cheaper than what the compiler would keep unpacked.
__device__ inline void forget(uint4& raw) { asm volatile("" : "+r"(raw.x), "+r"(raw.y), "+r"(raw.z), "+r"(raw.w)); }

// Each warp shifts by its own maximum, so that one exchange settles maximum and sum together.
// BLOCK: threads of a block that the row fills exactly, so that no masks and addresses take registers; or 0.
template <int V, int BLOCK>
__global__ void __maxnreg__(REGISTERS) held(const uint4* __restrict__ x, uint4* __restrict__ y, int vecs) {
  __shared__ float2 part[32];
  const int step = BLOCK ? BLOCK : blockDim.x;
  x += blockIdx.x * static_cast<int64_t>(vecs), y += blockIdx.x * static_cast<int64_t>(vecs);
  uint4 raw[V];
  float f[V][LANES], sum = 0.0f;
#pragma unroll
  for (int i = 0; i < V; ++i) {
    const int at = threadIdx.x + i * step;
    raw[i] = BLOCK || at < vecs ? load(x + at) : FILL;
  }
  uint4 best = raw[0];
#pragma unroll
  for (int i = 1; i < V; ++i) peak(best, raw[i]);
  const float top = warp_max(largest(best));
#pragma unroll
  for (int i = 0; i < V; ++i) {
    unpack(raw[i], f[i]);
#pragma unroll
    for (int l = 0; l < LANES; ++l) sum += f[i][l] = exponential(f[i][l] - top);
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = make_float2(top, sum);
  __syncthreads();
  const float2 all = combined(part, step / 32);
  const float scale = __fdividef(V > KEPT ? 1.0f : exponential(top - all.x), all.y);
#pragma unroll
  for (int i = 0; i < V; ++i) {
    const int at = threadIdx.x + i * step;
    if (V > KEPT) forget(raw[i]), unpack(raw[i], f[i]);
#pragma unroll
    for (int l = 0; l < LANES; ++l) f[i][l] = (V > KEPT ? exponential(f[i][l] - all.x) : f[i][l]) * scale;
    if (BLOCK || at < vecs) store(y + at, pack(f[i]));
  }
}

template <int V>
void launch(const T* x, T* y, int64_t M, int64_t N, cudaStream_t stream) {
  const int vecs = static_cast<int>(N / LANES), threads = ((vecs + V - 1) / V + 31) / 32 * 32;
  if (V < 8 && threads > MOST) return launch<V < 8 ? 2 * V : 8>(x, y, M, N, stream);
  const auto kernel = vecs == V * 128   ? held<V, 128>
                      : vecs == V * 256 ? held<V, 256>
                      : vecs == V * 512 ? held<V, 512>
                                        : held<V, 0>;
  kernel<<<static_cast<unsigned>(M), threads, 0, stream>>>(reinterpret_cast<const uint4*>(x),
                                                           reinterpret_cast<uint4*>(y), vecs);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int softmax(const T* x, T* y, int64_t M, int64_t N, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  const bool wide = N % LANES == 0 && aligned(x) && aligned(y);
  if (wide && N <= MOST * 8 * LANES) launch<VECS>(x, y, M, N, stream);
  else if (wide) streamed<LANES><<<static_cast<unsigned>(M), 512, 0, stream>>>(x, y, N);
  else streamed<1><<<static_cast<unsigned>(M), N < 2048 ? 128 : 512, 0, stream>>>(x, y, N);
  return cudaGetLastError();
}
