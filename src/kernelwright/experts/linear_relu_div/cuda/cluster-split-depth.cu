// /// kernelwright
// strategy = "cluster-split-depth: the blocks of a cluster each take a part of the depth and add their sums through each other's shared memory; for few rows"
// tune.BN = [64, 128, 256]
// tune.SPLIT = [2, 4, 8]
// tune.STAGES = [8, 6, 4]
// where = ["(128 + BN) * 128 * STAGES <= 220000"]
// cures = ["occupancy", "memory latency"]
// ///
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <climits>
#include <cstdint>
#include <type_traits>

#ifndef DTYPE_T
#define DTYPE_T __nv_bfloat16
#endif

namespace {

constexpr int BM = 128, BK = 64, THREADS = 384;
constexpr int A_BYTES = BM * BK * 2, B_BYTES = BK * BN * 2, PITCH = BN + 8;
constexpr int SUMS = BM * PITCH * 4, TILES = STAGES * (A_BYTES + B_BYTES);
constexpr int SHARED = (SUMS > TILES ? SUMS : TILES) + 1024 + 256;

template <typename T>
__device__ __forceinline__ float wide(T v) {
  return static_cast<float>(v);
}
template <typename T>
__device__ __forceinline__ T narrow(float v) {
  if constexpr (std::is_same_v<T, float>) return v;
  else if constexpr (std::is_same_v<T, __half>) return __float2half_rn(v);
  else return __float2bfloat16_rn(v);
}
template <typename T>
__device__ __forceinline__ uint32_t pack(float low, float high) {
  if constexpr (std::is_same_v<T, __half>) {
    const __half2 v = __floats2half2_rn(low, high);
    return reinterpret_cast<const uint32_t&>(v);
  } else {
    const __nv_bfloat162 v = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const uint32_t&>(v);
  }
}

// NaN stays NaN.
__device__ __forceinline__ float finish(float v, float bias, float inverse) {
  v += bias;
  return (v < 0.0f ? 0.0f : v) * inverse;
}

// Any type, any shape: 64 x 64 tiles from shared memory, 4 x 4 results a thread.
template <typename T>
__global__ void __launch_bounds__(256)
    plain(const T* x, const T* weight, const T* bias, T* y, float inverse, int64_t M, int64_t N, int64_t K) {
  __shared__ float as[16][68], bs[16][68];
  const int64_t wide_tiles = (N + 63) / 64, m0 = blockIdx.x / wide_tiles * 64, n0 = blockIdx.x % wide_tiles * 64;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sum[4][4] = {};
  for (int64_t k0 = 0; k0 < K; k0 += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      const int64_t m = m0 + i / 16, n = n0 + i / 16, k = k0 + i % 16;
      as[i % 16][i / 16] = m < M && k < K ? wide(x[m * K + k]) : 0.0f;
      bs[i % 16][i / 16] = n < N && k < K ? wide(weight[n * K + k]) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += as[k][ty * 4 + i] * bs[k][tx + 16 * j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int64_t m = m0 + ty * 4 + i, n = n0 + tx + 16 * j;
      if (m < M && n < N) y[m * N + n] = narrow<T>(finish(sum[i][j], wide(bias[n]), inverse));
    }
}

__device__ __forceinline__ uint32_t shared(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void expect(uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(uint32_t barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra.uni over;\nbra.uni again;\nover:\n}" ::"r"(
          barrier),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// A map is read through a cache of its own, which starts empty.
__device__ __forceinline__ void announce(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
__device__ __forceinline__ void fetch(uint32_t to, const CUtensorMap* map, int x, int y, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          to),
      "l"(map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
// Four sums of another block of the cluster.
__device__ __forceinline__ float4 read_from(uint32_t address, int block) {
  float4 v;
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %4, %5;\n"
      "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [there];\n}"
      : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
      : "r"(address), "r"(block)
      : "memory");
  return v;
}

// Descriptor of an operand whose rows of 64 numbers along the depth are swizzled.
__device__ __forceinline__ uint64_t operand(uint32_t address) {
  return (uint64_t{1} << 62) | (uint64_t{1024 >> 4} << 32) | (uint64_t{1} << 16) | ((address & 0x3FFFF) >> 4);
}

#define F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F16(i) F4(i), F4(i + 4), F4(i + 8), F4(i + 12)
#define F64(i) F16(i), F16(i + 16), F16(i + 32), F16(i + 48)
#define LIST32                                                                                             \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27," \
  "%28,%29,%30,%31"
#define LIST64                                                                                             \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27," \
  "%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,"   \
  "%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define LIST128                                                                                             \
  LIST64                                                                                                    \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,"   \
  "%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,"     \
  "%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define MULTIPLY64(TYPE)                                                                             \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"                                          \
               "wgmma.mma_async.sync.aligned.m64n64k16.f32." TYPE "." TYPE " {" LIST32 "}, %32, "    \
               "%33, p, 1, 1, 0, 0;\n}"                                                              \
               : F16(0), F16(16)                                                                     \
               : "l"(a), "l"(b), "r"(add))
#define MULTIPLY128(TYPE)                                                                            \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"                                          \
               "wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPE "." TYPE " {" LIST64 "}, %64, "   \
               "%65, p, 1, 1, 0, 0;\n}"                                                              \
               : F64(0)                                                                              \
               : "l"(a), "l"(b), "r"(add))
#define MULTIPLY256(TYPE)                                                                            \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"                                         \
               "wgmma.mma_async.sync.aligned.m64n256k16.f32." TYPE "." TYPE " {" LIST128 "}, %128, " \
               "%129, p, 1, 1, 0, 0;\n}"                                                             \
               : F64(0), F64(64)                                                                     \
               : "l"(a), "l"(b), "r"(add))

template <typename T>
__device__ __forceinline__ void multiply(float (&d)[BN / 2], uint64_t a, uint64_t b, int add) {
  if constexpr (BN == 256 && std::is_same_v<T, __half>) MULTIPLY256("f16");
  else if constexpr (BN == 256) MULTIPLY256("bf16");
  else if constexpr (BN == 128 && std::is_same_v<T, __half>) MULTIPLY128("f16");
  else if constexpr (BN == 128) MULTIPLY128("bf16");
  else if constexpr (std::is_same_v<T, __half>) MULTIPLY64("f16");
  else MULTIPLY64("bf16");
}

template <typename T>
__global__ void __launch_bounds__(THREADS, 1)
    slices(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, const T* bias, T* y,
           float inverse, int64_t M, int64_t N, int across, int steps) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ uint8_t raw[];
  const uint32_t offset = ((shared(raw) + 1023) & ~1023u) - shared(raw);
  const uint32_t base = shared(raw) + offset;
  const uint32_t a_at = base, b_at = a_at + STAGES * A_BYTES;
  const uint32_t full = base + (SUMS > TILES ? SUMS : TILES), empty = full + 8 * STAGES;
  const int group = threadIdx.x / 128, rank = blockIdx.x % SPLIT, tile = blockIdx.x / SPLIT;
  const int m0 = tile / across * BM, n0 = tile % across * BN;
  const int begin = static_cast<int>(static_cast<int64_t>(steps) * rank / SPLIT);
  const int end = static_cast<int>(static_cast<int64_t>(steps) * (rank + 1) / SPLIT);
  if (threadIdx.x == 0) {
    announce(&a_map);
    announce(&b_map);
    for (int s = 0; s < STAGES; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * s));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;" ::"r"(empty + 8 * s));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      int stage = 0, parity = 0;
      for (int k = begin; k < end; ++k) {
        const uint32_t ready = full + 8 * stage;
        wait(empty + 8 * stage, parity ^ 1);
        expect(ready, A_BYTES + B_BYTES);
        fetch(a_at + stage * A_BYTES, &a_map, k * BK, m0, ready);
        fetch(b_at + stage * B_BYTES, &b_map, k * BK, n0, ready);
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
    }
    __syncwarp();
    cluster_sync();
    cluster_sync();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int half = group - 1, lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    int stage = 0, parity = 0, before = 0;
    float d[BN / 2];
#pragma unroll
    for (int i = 0; i < BN / 2; ++i) d[i] = 0.0f;
    for (int k = begin; k < end; ++k) {
      wait(full + 8 * stage, parity);
      const uint64_t a = operand(a_at + stage * A_BYTES + half * (64 * 128)), b = operand(b_at + stage * B_BYTES);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int step = 0; step < BK / 16; ++step) multiply<T>(d, a + step * 2, b + step * 2, 1);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      if (k > begin) {
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (lane == 0) arrive(empty + 8 * before);
      }
      before = stage;
      if (++stage == STAGES) stage = 0, parity ^= 1;
    }
#pragma unroll
    for (int i = 0; i < BN / 2; ++i) asm volatile("" : "+f"(d[i])::"memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < BN / 2; ++i) asm volatile("" : "+f"(d[i])::"memory");
    asm volatile("bar.sync 1, 256;" ::: "memory");  // sums take the place of the tiles
    float* line = reinterpret_cast<float*>(raw + offset) + (half * 64 + warp * 16 + lane / 4) * PITCH + lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < BN / 8; ++j) {
      *reinterpret_cast<float2*>(line + j * 8) = make_float2(d[j * 4], d[j * 4 + 1]);
      *reinterpret_cast<float2*>(line + 8 * PITCH + j * 8) = make_float2(d[j * 4 + 2], d[j * 4 + 3]);
    }
    cluster_sync();
    for (int i = threadIdx.x - 128; i < BM / SPLIT * (BN / 4); i += THREADS - 128) {
      const int row = rank * (BM / SPLIT) + i / (BN / 4), column = i % (BN / 4) * 4;
      const int64_t m = m0 + row, n = n0 + column;
      if (m >= M || n >= N) continue;
      float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
      for (int block = 0; block < SPLIT; ++block) {
        const float4 w = read_from(base + (row * PITCH + column) * 4, block);
        v.x += w.x, v.y += w.y, v.z += w.z, v.w += w.w;
      }
      const uint2 out = make_uint2(pack<T>(finish(v.x, wide(bias[n]), inverse), finish(v.y, wide(bias[n + 1]), inverse)),
                                   pack<T>(finish(v.z, wide(bias[n + 2]), inverse), finish(v.w, wide(bias[n + 3]), inverse)));
      *reinterpret_cast<uint2*>(y + m * N + n) = out;
    }
    cluster_sync();
  }
#endif
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                            const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                            CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

Encode encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result) !=
          cudaSuccess ||
      result != cudaDriverEntryPointSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return reinterpret_cast<Encode>(found);
}

// A row-major matrix of 16-bit numbers, met in boxes of `high` rows of 64.
template <typename T>
bool describe(Encode encode, CUtensorMap* map, const void* data, int64_t rows, int64_t columns, int high) {
  const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t pitch[1] = {static_cast<cuuint64_t>(columns * 2)};
  const cuuint32_t box[2] = {64, static_cast<cuuint32_t>(high)}, ones[2] = {1, 1};
  return encode(map,
                std::is_same_v<T, __half> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2,
                const_cast<void*>(data), sizes, pitch, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

template <typename T>
int launch(Encode encode, const T* x, const T* weight, const T* bias, T* y, float inverse, int64_t M, int64_t N,
           int64_t K, cudaStream_t stream) {
  CUtensorMap a_map, b_map;
  if (!describe<T>(encode, &a_map, x, M, K, BM) || !describe<T>(encode, &b_map, weight, N, K, BN))
    return cudaErrorInvalidValue;
  const int64_t tall = (M + BM - 1) / BM, across = (N + BN - 1) / BN;
  cudaError_t problem = cudaFuncSetAttribute(slices<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
  if (problem != cudaSuccess) return problem;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = SPLIT;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = dim3(static_cast<unsigned>(tall * across * SPLIT));
  how.blockDim = dim3(THREADS);
  how.dynamicSmemBytes = SHARED;
  how.stream = stream;
  how.attrs = &attribute;
  how.numAttrs = 1;
  problem = cudaLaunchKernelEx(&how, slices<T>, a_map, b_map, bias, y, inverse, M, N, static_cast<int>(across),
                               static_cast<int>((K + BK - 1) / BK));
  return problem != cudaSuccess ? problem : cudaGetLastError();
}

template <typename T>
int layer(const T* x, const T* weight, const T* bias, T* y, float divisor, int64_t M, int64_t N, int64_t K,
          cudaStream_t stream) {
  if (M == 0 || N == 0) return 0;
  const float inverse = 1.0f / divisor;
  if constexpr (sizeof(T) == 2) {
    const bool aligned = (reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(weight) |
                          reinterpret_cast<uintptr_t>(y)) % 16 == 0;
    int device = 0, major = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    const bool fits = M < INT_MAX / 2 && N < INT_MAX / 2 && K < INT_MAX / 2;
    if (major == 9 && aligned && fits && K > 0 && K % 8 == 0 && N % 8 == 0) {
      if (const Encode encode = encoder()) return launch<T>(encode, x, weight, bias, y, inverse, M, N, K, stream);
    }
  }
  plain<T><<<static_cast<unsigned>((M + 63) / 64 * ((N + 63) / 64)), 256, 0, stream>>>(x, weight, bias, y, inverse, M,
                                                                                     N, K);
  return cudaGetLastError();
}

}  // namespace

extern "C" int linear_relu_div(const DTYPE_T* x, const DTYPE_T* weight, const DTYPE_T* bias, DTYPE_T* y, float divisor,
                               int64_t M, int64_t N, int64_t K, cudaStream_t stream) {
  return layer<DTYPE_T>(x, weight, bias, y, divisor, M, N, K, stream);
}
