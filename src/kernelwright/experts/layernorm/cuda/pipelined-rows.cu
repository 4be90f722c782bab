// /// kernelwright
// strategy = "pipelined rows: a resident block keeps weights and biases in registers and walks over rows that the bulk copy engine brings in advance; mean, then squares about it"
// tune.VECS = [4, 2, 8]
// tune.STAGES = [3, 2, 4, 6]
// tune.RESIDENT = [512, 768]
// where = ["N <= 4096 * VECS"]
// cures = ["memory latency", "repeated reads of the weights", "launch of many blocks"]
// ///
// VECS: vectors of 16 bytes a thread; a row that 512 threads cannot hold is read three times. STAGES: rows on their
// way for each block, as far as shared memory reaches. RESIDENT: threads of all blocks of a multiprocessor.
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

// As many registers as let all blocks be resident at once.
__global__ void __maxnreg__(65536 / RESIDENT / 8 * 8)
    pipelined(const uint4* __restrict__ x, const uint4* __restrict__ weight, const uint4* __restrict__ bias,
              uint4* __restrict__ y, float eps, float inverse, int64_t M, int vecs, int stages) {
  extern __shared__ __align__(128) uint4 rows[];
  __shared__ uint64_t full[STAGES];
  __shared__ float2 part[2][16];
  prepare(full, stages);
  const auto ask = [&](int stage, int64_t row) {
    if (threadIdx.x == 0 && row < M) fetch(rows + stage * vecs, x + row * vecs, vecs * 16, full + stage);
  };
  for (int s = 0; s < stages; ++s) ask(s, blockIdx.x + static_cast<int64_t>(s) * gridDim.x);
  uint4 w[VECS], b[VECS];
#pragma unroll
  for (int i = 0; i < VECS; ++i) {
    const int at = min(threadIdx.x + i * blockDim.x, vecs - 1);
    w[i] = __ldg(weight + at), b[i] = __ldg(bias + at);
  }
  int stage = 0, parity = 0;
  for (int64_t line = blockIdx.x; line < M; line += gridDim.x) {
    await(full + stage, parity);
    uint4 raw[VECS];
    float sum = 0.0f, rest = 0.0f, squares = 0.0f;
#pragma unroll
    for (int i = 0; i < VECS; ++i) {
      const int at = threadIdx.x + i * blockDim.x;
      raw[i] = at < vecs ? rows[stage * vecs + at] : make_uint4(0, 0, 0, 0);
      sum += total(raw[i]);
    }
    const float shift = over_block(sum, 0.0f, part[0]).x * inverse;  // its barrier frees the stage
    ask(stage, line + static_cast<int64_t>(stages) * gridDim.x);
#pragma unroll
    for (int i = 0; i < VECS; ++i) about(raw[i], shift, threadIdx.x + i * blockDim.x < vecs, rest, squares);
    const float2 sums = over_block(rest, squares, part[1]);
    const Row row = settled(shift, sums.x, sums.y, inverse, eps);
#pragma unroll
    for (int i = 0; i < VECS; ++i) {
      const int at = threadIdx.x + i * blockDim.x;
      if (at < vecs) __stcs(y + line * vecs + at, normalized(raw[i], row, w[i], b[i]));
    }
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

int launch(const T* x, const T* weight, const T* bias, T* y, float eps, int64_t M, int64_t N, cudaStream_t stream) {
  const int vecs = static_cast<int>(N / LANES), threads = ((vecs + VECS - 1) / VECS + 31) / 32 * 32;
  const int room = (225 * 1024 / (RESIDENT > threads ? RESIDENT / threads : 1) - 1536) / (vecs * 16);
  const int stages = room < 1 ? 1 : room < STAGES ? room : STAGES, bytes = stages * vecs * 16;
  cudaFuncSetAttribute(pipelined, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  pipelined<<<resident_blocks(M, threads, RESIDENT), threads, bytes, stream>>>(
      reinterpret_cast<const uint4*>(x), reinterpret_cast<const uint4*>(weight), reinterpret_cast<const uint4*>(bias),
      reinterpret_cast<uint4*>(y), eps, 1.0f / N, M, vecs, stages);
  return cudaGetLastError();
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int layernorm(const T* x, const T* weight, const T* bias, T* y, float eps, int64_t M, int64_t N,
                         cudaStream_t stream) {
  if (M <= 0 || N <= 0) return cudaSuccess;
  const bool wide = N % LANES == 0 && aligned(x) && aligned(weight) && aligned(bias) && aligned(y);
  const unsigned blocks = static_cast<unsigned>(M);
  if (wide && N <= 512 * VECS * LANES) return launch(x, weight, bias, y, eps, M, N, stream);
  streamed<<<blocks, N < 2048 ? 128 : 512, 0, stream>>>(x, weight, bias, y, eps, 1.0f / N, N);
  return cudaGetLastError();
}
