// /// kernelwright
// strategy = "warp rings: each resident warp has its own ring of chunks that the bulk copy engine fills, and no barrier with other warps"
// tune.WARPS = [8, 4, 16]
// tune.CHUNK_BYTES = [8192, 4096, 2048, 16384]
// tune.STAGES = [3, 2, 4, 6]
// where = ["WARPS * CHUNK_BYTES * STAGES <= 225000"]
// cures = ["memory latency", "few long rows"]
// ///
// WARPS: of a block, one block a multiprocessor. A row is cut into spans only where there are too few rows; then the
// next launch joins what the spans left, in their order.
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

__device__ inline float warp_sum(float x) {
#pragma unroll
  for (int step = 16; step; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
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

constexpr int CHUNK = CHUNK_BYTES / sizeof(T), VECS = CHUNK_BYTES / 16;

// The chunks of one warp: span after span of its share of all spans, each a number of chunks of one row.
struct Walk {
  int64_t n, spans, chunks, first, step;

  __device__ int64_t item(int64_t t) const { return first + t / chunks * step; }
  __device__ int64_t begin(int64_t t) const { return (item(t) % spans * chunks + t % chunks) * CHUNK; }
  __device__ int vecs(int64_t t) const {
    const int64_t left = n - begin(t);
    return static_cast<int>(left <= 0 ? 0 : left < CHUNK ? left / LANES : VECS);
  }
};

__global__ void __launch_bounds__(32 * WARPS) spans(const T* __restrict__ x, T* __restrict__ y,
                                                    float* __restrict__ found, int64_t items, Walk walk) {
  extern __shared__ __align__(128) uint4 memory[];
  __shared__ uint64_t full[WARPS * STAGES];
  prepare(full, WARPS * STAGES);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  uint4* ring = memory + warp * STAGES * VECS;
  walk.step = static_cast<int64_t>(gridDim.x) * WARPS;
  walk.first = static_cast<int64_t>(warp) * gridDim.x + blockIdx.x;
  const int64_t mine = walk.first < items ? ((items - 1 - walk.first) / walk.step + 1) * walk.chunks : 0;
  const auto ask = [&](int stage, int64_t t) {
    if (lane == 0 && t < mine)
      fetch(ring + stage * VECS, x + walk.item(t) / walk.spans * walk.n + walk.begin(t), walk.vecs(t) * 16,
            full + warp * STAGES + stage);
  };
  for (int s = 0; s < STAGES; ++s) ask(s, s);
  int stage = 0, parity = 0;
  float sum = 0.0f;
  for (int64_t t = 0; t < mine; ++t) {
    float sums[2] = {};
    await(full + warp * STAGES + stage, parity);
    const uint4* chunk = ring + stage * VECS;
    const int vecs = walk.vecs(t);
#pragma unroll 4
    for (int v = lane; v < vecs; v += 32) {
      float f[LANES];
      unpack(chunk[v], f);
#pragma unroll
      for (int l = 0; l < LANES; ++l) sums[l % 2] += f[l];
    }
    __syncwarp();
    ask(stage, t + STAGES);
    if (++stage == STAGES) stage = 0, parity ^= 1;
    sum += sums[0] + sums[1];
    if ((t + 1) % walk.chunks) continue;
    sum = warp_sum(sum);
    if (lane == 0 && walk.spans == 1) y[walk.item(t)] = narrow<T>(sum);
    else if (lane == 0) found[walk.item(t)] = sum;
    sum = 0.0f;
  }
}

// Rows that no bulk copy can bring: element by element, a warp a span.
__global__ void __launch_bounds__(256) plain(const T* __restrict__ x, T* __restrict__ y, float* __restrict__ found,
                                             int64_t items, Walk walk) {
  const int64_t item = blockIdx.x * 8l + threadIdx.x / 32, size = walk.chunks * CHUNK, begin = item % walk.spans * size;
  if (item >= items) return;
  float sum = 0.0f;
  for (int64_t j = begin + threadIdx.x % 32; j < begin + size && j < walk.n; j += 32)
    sum += widen(x[item / walk.spans * walk.n + j]);
  sum = warp_sum(sum);
  if (threadIdx.x % 32) return;
  if (walk.spans == 1) y[item] = narrow<T>(sum);
  else found[item] = sum;
}

__global__ void __launch_bounds__(32) joined(const float* __restrict__ found, T* __restrict__ y, int64_t count) {
  float sum = 0.0f;
  for (int64_t p = threadIdx.x; p < count; p += 32) sum += found[blockIdx.x * count + p];
  sum = warp_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = narrow<T>(sum);
}

int cores() {
  int device, count;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
  return count;
}

// With fewer rows than warps, as many spans a row as keep every warp busy.
Walk walk_over(int64_t M, int64_t N) {
  const int64_t chunks = N > CHUNK ? (N + CHUNK - 1) / CHUNK : 1, warps = static_cast<int64_t>(cores()) * WARPS;
  const int64_t wanted = M >= warps ? 1 : warps / (M > 0 ? M : 1), each = (chunks + wanted - 1) / wanted;
  return {N, (chunks + each - 1) / each, each, 0, 0};
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int64_t reduction_workspace(int64_t M, int64_t N) { return M * walk_over(M, N).spans * sizeof(float); }

extern "C" int reduction(const T* x, T* y, int64_t M, int64_t N, void* workspace, cudaStream_t stream) {
  if (M <= 0) return cudaSuccess;
  constexpr int BYTES = WARPS * STAGES * CHUNK_BYTES;
  const Walk walk = walk_over(M, N);
  const int64_t items = M * walk.spans;
  float* found = static_cast<float*>(workspace);
  cudaFuncSetAttribute(spans, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
  if (N % LANES == 0 && aligned(x)) spans<<<cores(), 32 * WARPS, BYTES, stream>>>(x, y, found, items, walk);
  else plain<<<static_cast<unsigned>((items + 7) / 8), 256, 0, stream>>>(x, y, found, items, walk);
  if (walk.spans > 1) joined<<<static_cast<unsigned>(M), 32, 0, stream>>>(found, y, walk.spans);
  return cudaGetLastError();
}
