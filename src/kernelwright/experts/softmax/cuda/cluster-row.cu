// /// kernelwright
// strategy = "cluster row: the blocks of a cluster share a row and exchange maxima and sums in each other's shared memory, by one barrier"
// tune.VECS = [4, 2]
// tune.MOST = [512, 256, 128, 1024]
// tune.REGISTERS = [64, 80]
// where = ["MOST * REGISTERS <= 65536"]
// cures = ["long rows", "registers"]
// ///
// VECS: vectors of 16 bytes a thread. MOST: threads of a block; a row of more than MOST * VECS vectors takes 2, 4 or 8
// blocks, one of more than that is read twice. REGISTERS: of a thread.
#include <cooperative_groups.h>
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

namespace cg = cooperative_groups;

__global__ void __maxnreg__(REGISTERS)
    shared_row(const uint4* __restrict__ x, uint4* __restrict__ y, int vecs, int mine) {
  __shared__ float2 part[8 * MOST / 32];  // of every warp of the cluster
  const cg::cluster_group cluster = cg::this_cluster();
  const int ranks = cluster.num_blocks(), rank = cluster.block_rank(), lane = threadIdx.x % 32;
  const int warps = blockDim.x / 32, first = rank * mine + threadIdx.x, end = min(rank * mine + mine, vecs);
  const int64_t row = blockIdx.x / ranks;
  cluster.barrier_arrive();  // nobody writes to a block that has not begun
  uint4 raw[VECS];
  float f[VECS][LANES], sum = 0.0f;
#pragma unroll
  for (int i = 0; i < VECS; ++i) {
    const int at = first + i * blockDim.x;
    raw[i] = at < end ? __ldcs(x + row * vecs + at) : FILL;
  }
  uint4 best = raw[0];
#pragma unroll
  for (int i = 1; i < VECS; ++i) peak(best, raw[i]);
  const float top = warp_max(largest(best));
#pragma unroll
  for (int i = 0; i < VECS; ++i) {
    unpack(raw[i], f[i]);
#pragma unroll
    for (int l = 0; l < LANES; ++l) sum += f[i][l] = exponential(f[i][l] - top);
  }
  sum = warp_sum(sum);
  cluster.barrier_wait();
  if (lane < ranks) *cluster.map_shared_rank(&part[rank * warps + threadIdx.x / 32], lane) = make_float2(top, sum);
  cluster.sync();
  float2 all = make_float2(-FLT_MAX, 0.0f);
  for (int w = lane; w < ranks * warps; w += 32) all.x = fmaxf(all.x, part[w].x);
  all.x = warp_max(all.x);
  for (int w = lane; w < ranks * warps; w += 32) all.y += part[w].y * exponential(part[w].x - all.x);
  const float scale = __fdividef(exponential(top - all.x), warp_sum(all.y));
#pragma unroll
  for (int i = 0; i < VECS; ++i) {
    const int at = first + i * blockDim.x;
#pragma unroll
    for (int l = 0; l < LANES; ++l) f[i][l] *= scale;
    if (at < end) __stcs(y + row * vecs + at, pack(f[i]));
  }
}

int launch(const T* x, T* y, int64_t M, int64_t N, cudaStream_t stream) {
  const int vecs = static_cast<int>(N / LANES);
  int ranks = 1;
  while (ranks * MOST * VECS < vecs) ranks *= 2;
  const int mine = (vecs + ranks - 1) / ranks, threads = ((mine + VECS - 1) / VECS + 31) / 32 * 32;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = ranks, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(M * ranks));
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, shared_row, reinterpret_cast<const uint4*>(x),
                            reinterpret_cast<uint4*>(y), vecs, mine);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int softmax(const T* x, T* y, int64_t M, int64_t N, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  const bool wide = N % LANES == 0 && aligned(x) && aligned(y);
  if (wide && N <= 8 * MOST * VECS * LANES) return launch(x, y, M, N, stream);
  if (wide) streamed<LANES><<<static_cast<unsigned>(M), 512, 0, stream>>>(x, y, N);
  else streamed<1><<<static_cast<unsigned>(M), N < 2048 ? 128 : 512, 0, stream>>>(x, y, N);
  return cudaGetLastError();
}
