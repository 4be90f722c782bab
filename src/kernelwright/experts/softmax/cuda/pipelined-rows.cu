// /// kernelwright
// strategy = "pipelined rows: a resident block walks over rows that the bulk copy engine brings to shared memory in advance"
// tune.VECS = [2, 4, 8]
// tune.STAGES = [3, 2, 4, 6]
// tune.RESIDENT = [512, 1024, 768]
// cures = ["memory latency", "launch of many blocks"]
// ///
// VECS: vectors of 16 bytes a thread. STAGES: rows on their way for each block, as far as shared memory reaches.
// RESIDENT: threads of all blocks of a multiprocessor.
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

// Threads of a multiprocessor; as many registers as let them be resident at once.
template <int V>
constexpr int RESIDENTS = V <= 4 ? RESIDENT : 512;

template <int V>
__global__ void __maxnreg__(65536 / RESIDENTS<V> / 8 * 8)
    pipelined(const uint4* __restrict__ x, uint4* __restrict__ y, int64_t M, int vecs, int stages) {
  extern __shared__ __align__(128) uint4 rows[];
  __shared__ uint64_t full[STAGES];
  __shared__ float2 part[2][32];
  prepare(full, stages);
  const auto ask = [&](int stage, int64_t row) {
    if (threadIdx.x == 0 && row < M) fetch(rows + stage * vecs, x + row * vecs, vecs * 16, full + stage);
  };
  for (int s = 0; s < stages; ++s) ask(s, blockIdx.x + static_cast<int64_t>(s) * gridDim.x);
  int stage = 0, parity = 0, side = 0;
  for (int64_t row = blockIdx.x; row < M; row += gridDim.x) {
    await(full + stage, parity);
    float f[V][LANES], top = -FLT_MAX, sum = 0.0f;
#pragma unroll
    for (int i = 0; i < V; ++i) {
      const int at = threadIdx.x + i * blockDim.x;
      unpack(rows[stage * vecs + min(at, vecs - 1)], f[i]);
#pragma unroll
      for (int l = 0; l < LANES; ++l) {
        f[i][l] = at < vecs ? f[i][l] : -INFINITY;
        top = fmaxf(top, f[i][l]);
      }
    }
    top = warp_max(top);
#pragma unroll
    for (int i = 0; i < V; ++i)
#pragma unroll
      for (int l = 0; l < LANES; ++l) sum += f[i][l] = exponential(f[i][l] - top);
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) part[side][threadIdx.x / 32] = make_float2(top, sum);
    __syncthreads();  // now every thread has taken its share out of the stage
    ask(stage, row + static_cast<int64_t>(stages) * gridDim.x);
    const float2 all = combined(part[side], blockDim.x / 32);
    const float scale = __fdividef(exponential(top - all.x), all.y);
#pragma unroll
    for (int i = 0; i < V; ++i) {
      const int at = threadIdx.x + i * blockDim.x;
#pragma unroll
      for (int l = 0; l < LANES; ++l) f[i][l] *= scale;
      if (at < vecs) __stcs(y + row * vecs + at, pack(f[i]));
    }
    side ^= 1;
    if (++stage == stages) stage = 0, parity ^= 1;
  }
}

int resident_blocks(int64_t rows, int threads, int resident) {
  int device, cores;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device);
  const int64_t most = static_cast<int64_t>(cores) * (resident > threads ? resident / threads : 1);
  return static_cast<int>(rows < most ? rows : most);
}

template <int V>
int launch(const T* x, T* y, int64_t M, int64_t N, cudaStream_t stream) {
  const int vecs = static_cast<int>(N / LANES), threads = ((vecs + V - 1) / V + 31) / 32 * 32;
  if (V < 8 && threads > 512) return launch<V < 8 ? 2 * V : 8>(x, y, M, N, stream);
  const int room = (225 * 1024 / (RESIDENTS<V> > threads ? RESIDENTS<V> / threads : 1) - 1536) / (vecs * 16);
  const int stages = room < 1 ? 1 : room < STAGES ? room : STAGES, bytes = stages * vecs * 16;
  cudaFuncSetAttribute(pipelined<V>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  pipelined<V><<<resident_blocks(M, threads, RESIDENTS<V>), threads, bytes, stream>>>(
      reinterpret_cast<const uint4*>(x), reinterpret_cast<uint4*>(y), M, vecs, stages);
  return cudaGetLastError();
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int softmax(const T* x, T* y, int64_t M, int64_t N, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  const bool wide = N % LANES == 0 && aligned(x) && aligned(y);
  if (wide && N <= 512 * 8 * LANES) return launch<VECS>(x, y, M, N, stream);
  if (wide) streamed<LANES><<<static_cast<unsigned>(M), 512, 0, stream>>>(x, y, N);
  else streamed<1><<<static_cast<unsigned>(M), N < 2048 ? 128 : 512, 0, stream>>>(x, y, N);
  return cudaGetLastError();
}
