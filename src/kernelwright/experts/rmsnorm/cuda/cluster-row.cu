// /// kernelwright
// strategy = "cluster row: the blocks of a cluster share a row and exchange sums in each other's shared memory"
// tune.VECS = [4, 2]
// tune.MOST = [512, 256, 128, 1024]
// tune.REGISTERS = [64, 80]
// where = ["MOST * REGISTERS <= 65536"]
// cures = ["long rows", "registers"]
// ///
// VECS: vectors of 16 bytes a thread. MOST: threads of a block; a row of more than MOST * VECS vectors takes 2, 4 or 8
// blocks, one of more than that is read again. REGISTERS: of a thread.
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

// Where registers are short, unpacking again is cheaper than what the compiler would keep unpacked.
template <int V>
__device__ inline void forget(uint4 (&raw)[V]) {
#pragma unroll
  for (int i = 0; i < V; ++i)
    if (V > 4) asm volatile("" : "+r"(raw[i].x), "+r"(raw[i].y), "+r"(raw[i].z), "+r"(raw[i].w));
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

__device__ inline uint4 take(const uint4* p, int at, int end) { return at < end ? __ldcs(p + at) : uint4{}; }

namespace cg = cooperative_groups;

__global__ void __maxnreg__(REGISTERS)
    shared_row(const uint4* __restrict__ x, const uint4* __restrict__ weight, uint4* __restrict__ y, float eps,
               float inverse, int vecs, int mine) {
  __shared__ float part[8 * MOST / 32];  // of every warp of the cluster
  const cg::cluster_group cluster = cg::this_cluster();
  const int ranks = cluster.num_blocks(), rank = cluster.block_rank(), lane = threadIdx.x % 32;
  const int warps = blockDim.x / 32, first = rank * mine + threadIdx.x, end = min(rank * mine + mine, vecs);
  const int64_t row = blockIdx.x / ranks;
  cluster.barrier_arrive();  // nobody writes to a block that has not begun
  uint4 raw[VECS];
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < VECS; ++i) raw[i] = take(x + row * vecs, first + i * blockDim.x, end);
#pragma unroll
  for (int i = 0; i < VECS; ++i) sum += squares(raw[i]);
  sum = warp_sum(sum);
  cluster.barrier_wait();
  if (lane < ranks) *cluster.map_shared_rank(&part[rank * warps + threadIdx.x / 32], lane) = sum;
  cluster.sync();
  sum = 0.0f;
  for (int p = lane; p < ranks * warps; p += 32) sum += part[p];
  const float scale = __frsqrt_rn(warp_sum(sum) * inverse + eps);
#pragma unroll
  for (int i = 0; i < VECS; ++i) {
    const int at = first + i * blockDim.x;
    if (at < end) __stcs(y + row * vecs + at, scaled(raw[i], scale, __ldg(weight + at)));
  }
}

int launch(const T* x, const T* weight, T* y, float eps, int64_t M, int64_t N, cudaStream_t stream) {
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
                            reinterpret_cast<const uint4*>(weight), reinterpret_cast<uint4*>(y), eps,
                            1.0f / N, vecs, mine);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int rmsnorm(const T* x, const T* weight, T* y, float eps, int64_t M, int64_t N, cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  const bool wide = N % LANES == 0 && aligned(x) && aligned(weight) && aligned(y);
  const unsigned blocks = static_cast<unsigned>(M);
  if (wide && N <= 8 * MOST * VECS * LANES) return launch(x, weight, y, eps, M, N, stream);
  if (wide) streamed<LANES><<<blocks, 512, 0, stream>>>(x, weight, y, eps, 1.0f / N, N);
  else streamed<1><<<blocks, N < 2048 ? 128 : 512, 0, stream>>>(x, weight, y, eps, 1.0f / N, N);
  return cudaGetLastError();
}
