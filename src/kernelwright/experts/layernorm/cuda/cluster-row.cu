// /// kernelwright
// strategy = "cluster row: the blocks of a cluster share a row; each warp's moments about its own mean are merged in all blocks' shared memory, by one barrier"
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

__device__ inline float warp_sum(float x) {
#pragma unroll
  for (int step = 16; step; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
}

struct Row {
  float shift, scale, offset;  // y = (x - shift) * scale + offset, before weight and bias
};

// A large offset of the row stays in the shift and cancels exactly; two-byte elements are too coarse to need that.
__device__ inline Row row_of(float shift, float mean, float scale) {
  if (sizeof(T) == 2) return {0.0f, scale, -(shift + mean) * scale};
  return {shift, scale, -mean * scale};
}

__device__ inline float total(const uint4& raw) {
  float f[LANES], sum = 0.0f;
  unpack(raw, f);
#pragma unroll
  for (int l = 0; l < LANES; ++l) sum += f[l];
  return sum;
}

// Sums of what is left over the shift (rounding, for four-byte elements) and of its squares.
__device__ inline void about(const uint4& raw, float shift, bool here, float& rest, float& squares) {
  float f[LANES], sum = 0.0f, square = 0.0f;
  unpack(raw, f);
#pragma unroll
  for (int l = 0; l < LANES; ++l) {
    const float off = f[l] - shift;
    sum += sizeof(T) == 4 ? off : 0.0f, square += off * off;
  }
  rest += here ? sum : 0.0f, squares += here ? square : 0.0f;
}

__device__ inline float turned(float x, const Row& row, float w, float b) {
  return ((sizeof(T) == 4 ? x - row.shift : x) * row.scale + row.offset) * w + b;
}

__device__ inline uint4 normalized(const uint4& raw, const Row& row, const uint4& weight, const uint4& bias) {
  float f[LANES], w[LANES], b[LANES];
  unpack(raw, f), unpack(weight, w), unpack(bias, b);
#pragma unroll
  for (int l = 0; l < LANES; ++l) f[l] = turned(f[l], row, w[l], b[l]);
  return pack(f);
}

// What a warp knows of its elements: x how many, y a shift near their mean, z their mean about the shift, w the sum of
// squares about that mean.
__device__ inline float4 moments(float count, float shift, float rest, float squares) {
  const float mean = count > 0.0f ? __fdividef(rest, count) : 0.0f;
  return make_float4(count, shift, mean, squares - rest * mean);
}

__device__ inline Row merged(const float4* part, int count, float inverse, float eps) {
  const float shift = part[0].y;
  float mean = 0.0f, squares = 0.0f;
#pragma unroll 1
  for (int p = threadIdx.x % 32; p < count; p += 32) mean += part[p].x * (part[p].y - shift + part[p].z);
  mean = warp_sum(mean) * inverse;
#pragma unroll 1
  for (int p = threadIdx.x % 32; p < count; p += 32) {
    const float off = part[p].y - shift + part[p].z - mean;
    squares += part[p].w + part[p].x * off * off;
  }
  return row_of(shift, mean, __frsqrt_rn(warp_sum(squares) * inverse + eps));
}

__device__ inline uint4 take(const uint4* p, int at, int end) { return at < end ? __ldcs(p + at) : uint4{}; }

// Any row, element by element, read three times.
__global__ void __launch_bounds__(512)
    streamed(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, T* __restrict__ y,
             float eps, float inverse, int64_t n) {
  __shared__ float4 part[16];
  x += blockIdx.x * n, y += blockIdx.x * n;
  float count = 0.0f, sum = 0.0f, rest = 0.0f, squares = 0.0f;
  for (int64_t j = threadIdx.x; j < n; j += blockDim.x) sum += widen(x[j]), count += 1.0f;
  sum = warp_sum(sum), count = warp_sum(count);
  const float shift = count > 0.0f ? __fdividef(sum, count) : 0.0f;
  for (int64_t j = threadIdx.x; j < n; j += blockDim.x)
    rest += widen(x[j]) - shift, squares += (widen(x[j]) - shift) * (widen(x[j]) - shift);
  rest = warp_sum(rest), squares = warp_sum(squares);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = moments(count, shift, rest, squares);
  __syncthreads();
  const Row row = merged(part, blockDim.x / 32, inverse, eps);
  for (int64_t j = threadIdx.x; j < n; j += blockDim.x)
    y[j] = narrow<T>(turned(widen(x[j]), row, widen(weight[j]), widen(bias[j])));
}

namespace cg = cooperative_groups;

__global__ void __maxnreg__(REGISTERS)
    shared_row(const uint4* __restrict__ x, const uint4* __restrict__ weight, const uint4* __restrict__ bias,
               uint4* __restrict__ y, float eps, float inverse, int vecs, int mine) {
  __shared__ float4 part[8 * MOST / 32];  // of every warp of the cluster
  const cg::cluster_group cluster = cg::this_cluster();
  const int ranks = cluster.num_blocks(), rank = cluster.block_rank(), lane = threadIdx.x % 32;
  const int warps = blockDim.x / 32, first = rank * mine + threadIdx.x, end = min(rank * mine + mine, vecs);
  const int64_t line = blockIdx.x / ranks;
  cluster.barrier_arrive();  // nobody writes to a block that has not begun
  uint4 raw[VECS];
  float sum = 0.0f, rest = 0.0f, squares = 0.0f;
  int count = 0;  // of the warp's vectors
#pragma unroll
  for (int i = 0; i < VECS; ++i) {
    const int at = first + i * blockDim.x;
    raw[i] = take(x + line * vecs, at, end);
    count += min(max(end - (at - lane), 0), 32);
  }
#pragma unroll
  for (int i = 0; i < VECS; ++i) sum += total(raw[i]);
  sum = warp_sum(sum);
  const float elements = count * LANES, shift = count ? __fdividef(sum, elements) : 0.0f;
#pragma unroll
  for (int i = 0; i < VECS; ++i)
    about(raw[i], shift, first + i * static_cast<int>(blockDim.x) < end, rest, squares);
  rest = warp_sum(rest), squares = warp_sum(squares);
  cluster.barrier_wait();
  if (lane < ranks)
    *cluster.map_shared_rank(&part[rank * warps + threadIdx.x / 32], lane) = moments(elements, shift, rest, squares);
  cluster.sync();
  const Row row = merged(part, ranks * warps, inverse, eps);
#pragma unroll
  for (int i = 0; i < VECS; ++i) {
    const int at = first + i * blockDim.x;
    if (at < end) __stcs(y + line * vecs + at, normalized(raw[i], row, __ldg(weight + at), __ldg(bias + at)));
  }
}

int launch(const T* x, const T* weight, const T* bias, T* y, float eps, int64_t M, int64_t N, cudaStream_t stream) {
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
                            reinterpret_cast<const uint4*>(weight), reinterpret_cast<const uint4*>(bias),
                            reinterpret_cast<uint4*>(y), eps, 1.0f / N, vecs, mine);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int layernorm(const T* x, const T* weight, const T* bias, T* y, float eps, int64_t M, int64_t N,
                         cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  const bool wide = N % LANES == 0 && aligned(x) && aligned(weight) && aligned(bias) && aligned(y);
  const unsigned blocks = static_cast<unsigned>(M);
  if (wide && N <= 8 * MOST * VECS * LANES) return launch(x, weight, bias, y, eps, M, N, stream);
  streamed<<<blocks, N < 2048 ? 128 : 512, 0, stream>>>(x, weight, bias, y, eps, 1.0f / N, N);
  return cudaGetLastError();
}
