// /// kernelwright
// strategy = "cluster columns: the blocks of a cluster share a group of rows and leave their sums in the first one's shared memory; one launch"
// tune.THREADS = [512, 256, 128]
// tune.ROWS = [2, 1, 4, 8]
// tune.RANKS = [2, 4, 8]
// tune.LOADS = [2, 1, 0]
// cures = ["few long rows", "idle multiprocessors", "launch of a second kernel"]
// ///
// THREADS, RANKS: of a block and blocks of a cluster, at most; short rows take fewer.
// LOADS: 0 as usual, 1 to let what is read leave the caches first, 2 past the first of them.
#include <cooperative_groups.h>
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

__device__ inline uint4 load(const uint4* p) {
  uint4 v;
  if (LOADS == 0) return __ldg(p);
  if (LOADS == 1) return __ldcs(p);
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(p));
  return v;
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

// L neighbours: a 16-byte vector, or one element. What is read once is not worth a place in a cache.
template <int L>
__device__ inline void read(const T* p, float (&f)[L]) {
  if constexpr (L == 1) f[0] = widen(*p);
  else unpack(load(reinterpret_cast<const uint4*>(p)), f);
}

__device__ inline float warp_sum(float x) {
#pragma unroll
  for (int step = 16; step; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
}

// Adds to the sums of ROWS rows what one of `step` neighbours takes of the columns from begin to end; the vector's
// elements are read once for all rows. A few at a time are added up, for smaller rounding errors.
template <int L>
__device__ inline void dot(const T* const (&a)[ROWS], const T* x, int64_t begin, int64_t end, int64_t first,
                           int64_t step, float (&sums)[ROWS]) {
  for (step *= L; begin < end; begin += 16 * step) {
    const int64_t stop = min(begin + 16 * step, end);
    float few[ROWS] = {};
#pragma unroll 2
    for (int64_t k = begin + first * L; k < stop; k += step) {
      float f[ROWS][L], v[L];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) read<L>(a[r] + k, f[r]);
      if constexpr (L == 1) v[0] = widen(x[k]);
      else unpack(__ldg(reinterpret_cast<const uint4*>(x + k)), v);
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        float one = f[r][0] * v[0];
#pragma unroll
        for (int l = 1; l < L; ++l) one += f[r][l] * v[l];
        few[r] += one;
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) sums[r] += few[r];
  }
}

namespace cg = cooperative_groups;

template <int L>
__global__ void __launch_bounds__(THREADS)
    products(const T* __restrict__ a, const T* __restrict__ x, T* __restrict__ y, int64_t M, int64_t K, int64_t piece) {
  __shared__ float part[RANKS * THREADS / 32][ROWS];  // of the first block: from every warp of the cluster
  const cg::cluster_group cluster = cg::this_cluster();
  const int ranks = cluster.num_blocks(), rank = cluster.block_rank(), warps = blockDim.x / 32;
  const int64_t row = blockIdx.x / ranks * int64_t{ROWS}, begin = rank * piece;
  const T* line[ROWS];
  float sums[ROWS] = {};
#pragma unroll
  for (int r = 0; r < ROWS; ++r) line[r] = a + min(row + r, M - 1) * K;  // a row beyond the last is read for nothing
  cluster.barrier_arrive();  // nobody writes to a block that has not begun
  dot<L>(line, x, begin, begin + piece < K ? begin + piece : K, threadIdx.x, blockDim.x, sums);
  cluster.barrier_wait();
  float* first = cluster.map_shared_rank(&part[rank * warps + threadIdx.x / 32][0], 0);
#pragma unroll
  for (int r = 0; r < ROWS; ++r) {
    sums[r] = warp_sum(sums[r]);
    if (threadIdx.x % 32 == 0) first[r] = sums[r];
  }
  cluster.sync();
  if (rank) return;
  const int lane = threadIdx.x % 32;
  for (int r = threadIdx.x / 32; r < ROWS && row + r < M; r += warps) {
    float sum = 0.0f;
    for (int w = lane; w < ranks * warps; w += 32) sum += part[w][r];
    sum = warp_sum(sum);
    if (lane == 0) y[row + r] = narrow<T>(sum);
  }
}

template <int L>
int launch(const T* a, const T* x, T* y, int64_t M, int64_t K, cudaStream_t stream) {
  int ranks = RANKS;
  while (ranks > 1 && K < ranks * THREADS * L * 2) ranks /= 2;
  const int64_t wanted = (K / (ranks * L * 4) + 31) / 32 * 32;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = ranks, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>((M + ROWS - 1) / ROWS * ranks));
  config.blockDim = dim3(static_cast<unsigned>(wanted < 32 ? 32 : wanted < THREADS ? wanted : THREADS));
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, products<L>, a, x, y, M, K, (K + ranks * L - 1) / (ranks * L) * L);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int matvec(const T* a, const T* x, T* y, int64_t M, int64_t K, cudaStream_t stream) {
  if (M <= 0) return cudaSuccess;
  if (K % LANES == 0 && aligned(a) && aligned(x)) return launch<LANES>(a, x, y, M, K, stream);
  return launch<1>(a, x, y, M, K, stream);
}
