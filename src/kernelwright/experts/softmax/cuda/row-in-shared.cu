// /// kernelwright
// strategy = "row in shared memory: one block a row; the bulk copy engine brings it in chunks that are added up as they come, several rows wait for each multiprocessor"
// tune.VECS = [8, 4, 2]
// tune.MOST = [512, 256, 1024]
// tune.CHUNKS = [4, 2, 1, 8]
// tune.STREAM = [0, 1]
// cures = ["long rows", "registers"]
// ///
// VECS: vectors of 16 bytes a thread, as far as MOST threads reach. CHUNKS: of a row. A row that shared memory cannot
// hold is read twice.
// STREAM: 1 to let what is written leave the caches first.
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
  else unpack(__ldcs(reinterpret_cast<const uint4*>(p)), f);
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

// The bulk copy engine: one thread asks, a barrier in shared memory turns when the bytes are there.
__device__ inline uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ inline void prepare(uint64_t* barriers, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barriers + i)) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  __syncthreads();
}

__device__ inline void fetch(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
  asm volatile(
      "{\n\t.reg .pred some;\n\tsetp.ne.u32 some, %2, 0;\n\t"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%3], %2;\n\t"
      "@some cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n}" ::"r"(
          shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier)) : "memory");
}

__device__ inline void await(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n\t.reg .pred done;\n"
      "AGAIN:\n\tmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t@!done bra AGAIN;\n}" ::"r"(
          shared_address(barrier)), "r"(parity) : "memory");
}

__global__ void __launch_bounds__(MOST) shared_row(const uint4* __restrict__ x, uint4* __restrict__ y, int vecs) {
  extern __shared__ __align__(128) uint4 held[];
  __shared__ uint64_t full[CHUNKS];
  __shared__ float2 part[32];
  x += blockIdx.x * static_cast<int64_t>(vecs), y += blockIdx.x * static_cast<int64_t>(vecs);
  prepare(full, CHUNKS);
  const int chunk = (vecs + CHUNKS - 1) / CHUNKS;
  if (threadIdx.x == 0)
    for (int c = 0; c < CHUNKS; ++c)
      fetch(held + c * chunk, x + c * chunk, max(min(chunk, vecs - c * chunk), 0) * 16, full + c);
  float f[LANES], top = -FLT_MAX, sum = 0.0f;
  for (int c = 0; c < CHUNKS; ++c) {
    await(full + c, 0);
    const int end = min((c + 1) * chunk, vecs);
#pragma unroll 2
    for (int v = c * chunk + threadIdx.x; v < end; v += blockDim.x) {
      const float old = top;
      unpack(held[v], f);
#pragma unroll
      for (int l = 0; l < LANES; ++l) top = fmaxf(top, f[l]);
      float few = 0.0f;
#pragma unroll
      for (int l = 0; l < LANES; ++l) few += exponential(f[l] - top);
      sum = sum * exponential(old - top) + few;
    }
  }
  const float warp_top = warp_max(top);
  sum = warp_sum(sum * exponential(top - warp_top));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = make_float2(warp_top, sum);
  __syncthreads();
  const float2 all = combined(part, blockDim.x / 32);
  const float scale = __fdividef(1.0f, all.y);
#pragma unroll 2
  for (int v = threadIdx.x; v < vecs; v += blockDim.x) {
    unpack(held[v], f);
#pragma unroll
    for (int l = 0; l < LANES; ++l) f[l] = exponential(f[l] - all.x) * scale;
    store(y + v, pack(f));
  }
}

int launch(const T* x, T* y, int64_t M, int64_t N, cudaStream_t stream) {
  const int vecs = static_cast<int>(N / LANES), wanted = (vecs + VECS - 1) / VECS, bytes = vecs * 16;
  const int threads = wanted < MOST ? (wanted + 31) / 32 * 32 : MOST;
  cudaFuncSetAttribute(shared_row, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  shared_row<<<static_cast<unsigned>(M), threads, bytes, stream>>>(
      reinterpret_cast<const uint4*>(x), reinterpret_cast<uint4*>(y), vecs);
  return cudaGetLastError();
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int softmax(const T* x, T* y, int64_t M, int64_t N, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  const bool wide = N % LANES == 0 && aligned(x) && aligned(y);
  if (wide && N * static_cast<int64_t>(sizeof(T)) <= 225 * 1024) return launch(x, y, M, N, stream);
  if (wide) streamed<LANES><<<static_cast<unsigned>(M), 512, 0, stream>>>(x, y, N);
  else streamed<1><<<static_cast<unsigned>(M), N < 2048 ? 128 : 512, 0, stream>>>(x, y, N);
  return cudaGetLastError();
}
