// /// kernelwright
// strategy = "row in shared memory: one block a row; the bulk copy engine brings it in chunks that are added up as they come, several rows wait for each multiprocessor"
// tune.VECS = [4, 8, 2]
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

// Sum of what each warp found.
__device__ inline float combined(const float* part, int count) {
  const int lane = threadIdx.x % 32;
  return warp_sum(lane < count ? part[lane] : 0.0f);
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

// Any row, read twice.
template <int L>
__global__ void __launch_bounds__(512) streamed(const T* __restrict__ x, const T* __restrict__ weight,
                                                T* __restrict__ y, float eps, float inverse, int64_t n) {
  __shared__ float part[32];
  x += blockIdx.x * n, y += blockIdx.x * n;
  const int64_t first = threadIdx.x * L, step = blockDim.x * L;
  float f[L], w[L], sum = 0.0f;
  for (int64_t j = first; j < n; j += step) {
    read<L>(x + j, f);
    float few = 0.0f;
#pragma unroll
    for (int l = 0; l < L; ++l) few += f[l] * f[l];
    sum += few;
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  const float scale = __frsqrt_rn(combined(part, blockDim.x / 32) * inverse + eps);
  for (int64_t j = first; j < n; j += step) {
    read<L>(x + j, f), read<L>(weight + j, w);
#pragma unroll
    for (int l = 0; l < L; ++l) f[l] = f[l] * scale * w[l];
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

__global__ void __launch_bounds__(MOST)
    shared_row(const uint4* __restrict__ x, const uint4* __restrict__ weight, uint4* __restrict__ y, float eps,
               float inverse, int vecs) {
  extern __shared__ __align__(128) uint4 held[];
  __shared__ uint64_t full[CHUNKS];
  __shared__ float part[32];
  x += blockIdx.x * static_cast<int64_t>(vecs), y += blockIdx.x * static_cast<int64_t>(vecs);
  prepare(full, CHUNKS);
  const int chunk = (vecs + CHUNKS - 1) / CHUNKS;
  if (threadIdx.x == 0)
    for (int c = 0; c < CHUNKS; ++c)
      fetch(held + c * chunk, x + c * chunk, max(min(chunk, vecs - c * chunk), 0) * 16, full + c);
  float sum = 0.0f;
  for (int c = 0; c < CHUNKS; ++c) {
    await(full + c, 0);
    const int end = min((c + 1) * chunk, vecs);
#pragma unroll 2
    for (int v = c * chunk + threadIdx.x; v < end; v += blockDim.x) sum += squares(held[v]);
  }
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  const float scale = __frsqrt_rn(combined(part, blockDim.x / 32) * inverse + eps);
#pragma unroll 4
  for (int v = threadIdx.x; v < vecs; v += blockDim.x) store(y + v, scaled(held[v], scale, __ldg(weight + v)));
}

int launch(const T* x, const T* weight, T* y, float eps, int64_t M, int64_t N, cudaStream_t stream) {
  const int vecs = static_cast<int>(N / LANES), wanted = (vecs + VECS - 1) / VECS, bytes = vecs * 16;
  const int threads = wanted < MOST ? (wanted + 31) / 32 * 32 : MOST;
  cudaFuncSetAttribute(shared_row, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  shared_row<<<static_cast<unsigned>(M), threads, bytes, stream>>>(
      reinterpret_cast<const uint4*>(x), reinterpret_cast<const uint4*>(weight), reinterpret_cast<uint4*>(y), eps,
      1.0f / N, vecs);
  return cudaGetLastError();
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int rmsnorm(const T* x, const T* weight, T* y, float eps, int64_t M, int64_t N, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  const bool wide = N % LANES == 0 && aligned(x) && aligned(weight) && aligned(y);
  const unsigned blocks = static_cast<unsigned>(M);
  if (wide && N * static_cast<int64_t>(sizeof(T)) <= 225 * 1024) return launch(x, weight, y, eps, M, N, stream);
  if (wide) streamed<LANES><<<blocks, 512, 0, stream>>>(x, weight, y, eps, 1.0f / N, N);
  else streamed<1><<<blocks, N < 2048 ? 128 : 512, 0, stream>>>(x, weight, y, eps, 1.0f / N, N);
  return cudaGetLastError();
}
