// /// kernelwright
// strategy = "block ring: a resident block walks over rows chunk by chunk; the bulk copy engine fills a ring in advance, across the ends of rows"
// tune.THREADS = [256, 128, 512]
// tune.CHUNK_BYTES = [16384, 8192, 32768]
// tune.STAGES = [3, 4, 2, 6]
// tune.BLOCKS = [4, 2, 3, 1]
// where = ["BLOCKS * (STAGES * CHUNK_BYTES + 1500) <= 225000", "BLOCKS * THREADS <= 2048"]
// cures = ["memory latency", "launch of many blocks"]
// ///
// BLOCKS: of a multiprocessor.
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

// L neighbours: a 16-byte vector, or one element. What is read once is not worth a place in a cache.
template <int L>
__device__ inline void read(const T* p, float (&f)[L]) {
  if constexpr (L == 1) f[0] = widen(*p);
  else unpack(__ldcs(reinterpret_cast<const uint4*>(p)), f);
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

// Adds L elements to a maximum and a sum of exponentials relative to it. The maximum begins finite, so that rows that
// are -inf throughout still end as NaN.
template <int L>
__device__ inline void absorb(const float (&f)[L], float& top, float& sum) {
  const float old = top;
#pragma unroll
  for (int l = 0; l < L; ++l) top = fmaxf(top, f[l]);
  sum *= exponential(old - top);
#pragma unroll
  for (int l = 0; l < L; ++l) sum += exponential(f[l] - top);
}

// What one of `step` neighbours takes of n elements: 2 reads are under way before the first is used. Reads beyond
// the end are of the first element, for nothing.
template <int L>
__device__ inline float2 sweep(const T* x, int64_t first, int64_t step, int64_t n) {
  float top = -FLT_MAX, sum = 0.0f, f[2 * L], g[L];
  int64_t j = first * L;
  for (step *= L; j + (2 - 1) * step < n; j += 2 * step) {
#pragma unroll
    for (int u = 0; u < 2; ++u) {
      read<L>(x + j + u * step, g);
#pragma unroll
      for (int l = 0; l < L; ++l) f[u * L + l] = g[l];
    }
    absorb(f, top, sum);
  }
  if (j >= n) return make_float2(top, sum);
#pragma unroll
  for (int u = 0; u < 2; ++u) {
    const bool here = j + u * step < n;
    read<L>(here ? x + j + u * step : x, g);
#pragma unroll
    for (int l = 0; l < L; ++l) f[u * L + l] = here ? g[l] : -INFINITY;
  }
  absorb(f, top, sum);
  return make_float2(top, sum);
}

// Joins the maxima and sums of a warp's lanes; every lane gets the result.
__device__ inline float2 joined(float2 mine) {
  const float top = warp_max(mine.x);
  return make_float2(top, warp_sum(mine.y * exponential(mine.x - top)));
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

__device__ inline T loss_of(float2 all, T label) { return narrow<T>(logf(all.y) - (widen(label) - all.x)); }

constexpr int CHUNK = CHUNK_BYTES / sizeof(T), VECS = CHUNK_BYTES / 16;

__global__ void __launch_bounds__(THREADS)
    walk(const T* __restrict__ logits, const int64_t* __restrict__ labels, T* __restrict__ loss, int64_t N, int64_t V) {
  extern __shared__ __align__(128) uint4 ring[];
  __shared__ uint64_t full[STAGES];
  __shared__ float2 part[2][THREADS / 32];
  prepare(full, STAGES);
  const int chunks = static_cast<int>((V + CHUNK - 1) / CHUNK);
  const int last = static_cast<int>((V - (chunks - 1) * int64_t{CHUNK}) / LANES);  // vectors of the last chunk
  int64_t asked_row = blockIdx.x;  // of thread 0: where the next chunk is
  int asked = 0;
  const auto ask = [&](int stage) {
    if (threadIdx.x || asked_row >= N) return;
    const T* from = logits + asked_row * V + asked * int64_t{CHUNK};
    fetch(ring + stage * VECS, from, (asked + 1 < chunks ? VECS : last) * 16, full + stage);
    if (++asked == chunks) asked = 0, asked_row += gridDim.x;
  };
  for (int s = 0; s < STAGES; ++s) ask(s);
  int stage = 0, parity = 0, side = 0;
  for (int64_t row = blockIdx.x; row < N; row += gridDim.x, side ^= 1) {
    T label;
    if (threadIdx.x == 0) label = logits[row * V + labels[row]];
    float2 all = make_float2(-FLT_MAX, 0.0f);
    for (int c = 0; c < chunks; ++c) {
      const int vecs = c + 1 < chunks ? VECS : last;
      await(full + stage, parity);
#pragma unroll 4
      for (int v = threadIdx.x; v < vecs; v += THREADS) {
        float f[LANES];
        unpack(ring[stage * VECS + v], f);
        absorb(f, all.x, all.y);
      }
      if (c + 1 == chunks) {
        all = joined(all);
        if (threadIdx.x % 32 == 0) part[side][threadIdx.x / 32] = all;
      }
      __syncthreads();  // now every thread is done with the stage
      ask(stage);
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    if (threadIdx.x >= 32) continue;
    all = joined(threadIdx.x < THREADS / 32 ? part[side][threadIdx.x] : make_float2(-FLT_MAX, 0.0f));
    if (threadIdx.x == 0) loss[row] = loss_of(all, label);
  }
}

// Rows that no bulk copy can bring: a warp a row.
__global__ void __launch_bounds__(256)
    plain(const T* __restrict__ logits, const int64_t* __restrict__ labels, T* __restrict__ loss, int64_t N,
          int64_t V) {
  const int64_t row = blockIdx.x * 8l + threadIdx.x / 32;
  if (row >= N) return;
  const float2 all = joined(sweep<1>(logits + row * V, threadIdx.x % 32, 32, V));
  if (threadIdx.x % 32 == 0) loss[row] = loss_of(all, logits[row * V + labels[row]]);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int cross_entropy(const T* logits, const int64_t* labels, T* loss, int64_t N, int64_t V,
                             cudaStream_t stream) {
  if (N <= 0 || V <= 0) return cudaSuccess;
  if (V % LANES || !aligned(logits)) {
    plain<<<static_cast<unsigned>((N + 7) / 8), 256, 0, stream>>>(logits, labels, loss, N, V);
    return cudaGetLastError();
  }
  int device, cores;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device);
  cudaFuncSetAttribute(walk, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGES * CHUNK_BYTES);
  const int64_t blocks = N < cores * BLOCKS ? N : cores * BLOCKS;
  walk<<<static_cast<unsigned>(blocks), THREADS, STAGES * CHUNK_BYTES, stream>>>(logits, labels, loss, N, V);
  return cudaGetLastError();
}
