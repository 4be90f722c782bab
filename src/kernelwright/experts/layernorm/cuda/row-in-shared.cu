// /// kernelwright
// strategy = "row in shared memory: one block a row; the bulk copy engine brings it in chunks that are added up as they come, several rows wait for each multiprocessor"
// tune.VECS = [4, 8, 2]
// tune.MOST = [512, 256, 1024]
// tune.CHUNKS = [4, 2, 1, 8]
// tune.STREAM = [0, 1]
// cures = ["long rows", "registers"]
// ///
// VECS: vectors of 16 bytes a thread, as far as MOST threads reach. CHUNKS: of a row. A row that shared memory cannot
// hold is read three times.
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

// Any row, element by element, read three times.
__global__ void __launch_bounds__(512)
    streamed(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, T* __restrict__ y,
             float eps, float inverse, int64_t n) {
  __shared__ float2 part[2][16];
  x += blockIdx.x * n, y += blockIdx.x * n;
  float sum = 0.0f, rest = 0.0f, squares = 0.0f;
  for (int64_t j = threadIdx.x; j < n; j += blockDim.x) sum += widen(x[j]);
  const float shift = over_block(sum, 0.0f, part[0]).x * inverse;
  for (int64_t j = threadIdx.x; j < n; j += blockDim.x)
    rest += widen(x[j]) - shift, squares += (widen(x[j]) - shift) * (widen(x[j]) - shift);
  const float2 sums = over_block(rest, squares, part[1]);
  const Row row = settled(shift, sums.x, sums.y, inverse, eps);
  for (int64_t j = threadIdx.x; j < n; j += blockDim.x)
    y[j] = narrow<T>(turned(widen(x[j]), row, widen(weight[j]), widen(bias[j])));
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
    shared_row(const uint4* __restrict__ x, const uint4* __restrict__ weight, const uint4* __restrict__ bias,
               uint4* __restrict__ y, float eps, float inverse, int vecs) {
  extern __shared__ __align__(128) uint4 held[];
  __shared__ uint64_t full[CHUNKS];
  __shared__ float2 part[2][32];
  x += blockIdx.x * static_cast<int64_t>(vecs), y += blockIdx.x * static_cast<int64_t>(vecs);
  prepare(full, CHUNKS);
  const int chunk = (vecs + CHUNKS - 1) / CHUNKS;
  if (threadIdx.x == 0)
    for (int c = 0; c < CHUNKS; ++c)
      fetch(held + c * chunk, x + c * chunk, max(min(chunk, vecs - c * chunk), 0) * 16, full + c);
  float sum = 0.0f, rest = 0.0f, squares = 0.0f;
  for (int c = 0; c < CHUNKS; ++c) {
    await(full + c, 0);
    const int end = min((c + 1) * chunk, vecs);
#pragma unroll 2
    for (int v = c * chunk + threadIdx.x; v < end; v += blockDim.x) sum += total(held[v]);
  }
  const float shift = over_block(sum, 0.0f, part[0]).x * inverse;
#pragma unroll 2
  for (int v = threadIdx.x; v < vecs; v += blockDim.x) about(held[v], shift, true, rest, squares);
  const float2 sums = over_block(rest, squares, part[1]);
  const Row row = settled(shift, sums.x, sums.y, inverse, eps);
#pragma unroll 2
  for (int v = threadIdx.x; v < vecs; v += blockDim.x)
    store(y + v, normalized(held[v], row, __ldg(weight + v), __ldg(bias + v)));
}

int launch(const T* x, const T* weight, const T* bias, T* y, float eps, int64_t M, int64_t N, cudaStream_t stream) {
  const int vecs = static_cast<int>(N / LANES), wanted = (vecs + VECS - 1) / VECS, bytes = vecs * 16;
  const int threads = wanted < MOST ? (wanted + 31) / 32 * 32 : MOST;
  cudaFuncSetAttribute(shared_row, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  shared_row<<<static_cast<unsigned>(M), threads, bytes, stream>>>(
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
  if (wide && N * static_cast<int64_t>(sizeof(T)) <= 225 * 1024) return launch(x, weight, bias, y, eps, M, N, stream);
  streamed<<<blocks, N < 2048 ? 128 : 512, 0, stream>>>(x, weight, bias, y, eps, 1.0f / N, N);
  return cudaGetLastError();
}
