// /// kernelwright
// strategy = "wgmma-persistent: one warp copies tiles in, two warpgroups multiply them, pairs of blocks share their columns, results leave through the copy engine"
// tune.BN = [256, 128]
// tune.STAGES = [4, 3, 6]
// tune.CLUSTER = [2, 1]
// tune.GROUP = [16, 8, 4]
// where = ["(128 + BN) * 128 * STAGES <= 196608"]
// cures = ["compute", "memory bandwidth"]
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
constexpr int A_BYTES = BM * BK * 2, B_BYTES = BK * BN * 2, STAGING = 64 * 128 * 2;
constexpr int SHARED = STAGES * (A_BYTES + B_BYTES) + 2 * STAGING + 1024 + 256;

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

// Any type, any shape: 64 x 64 tiles from shared memory, 4 x 4 results a thread.
template <typename T>
__global__ void __launch_bounds__(256) plain(const T* a, const T* b, T* c, int64_t M, int64_t N, int64_t K) {
  __shared__ float as[16][68], bs[16][64];
  const int64_t wide_tiles = (N + 63) / 64, m0 = blockIdx.x / wide_tiles * 64, n0 = blockIdx.x % wide_tiles * 64;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sum[4][4] = {};
  for (int64_t k0 = 0; k0 < K; k0 += 16) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      const int64_t m = m0 + i / 16, ka = k0 + i % 16, kb = k0 + i / 64, n = n0 + i % 64;
      as[i % 16][i / 16] = m < M && ka < K ? wide(a[m * K + ka]) : 0.0f;
      bs[i / 64][i % 64] = kb < K && n < N ? wide(b[kb * N + n]) : 0.0f;
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
      if (m < M && n < N) c[m * N + n] = narrow<T>(sum[i][j]);
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
__device__ __forceinline__ void arrive(uint32_t barrier, int block) {
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
      "r"(block)
      : "memory");
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
__device__ __forceinline__ void fetch_for_all(uint32_t to, const CUtensorMap* map, int x, int y, uint32_t barrier,
                                              uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, "
      "%3}], [%4], %5;" ::"r"(to),
      "l"(map), "r"(x), "r"(y), "r"(barrier), "h"(blocks)
      : "memory");
}
__device__ __forceinline__ void store(const CUtensorMap* map, int x, int y, uint32_t from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x),
               "r"(y), "r"(from)
               : "memory");
}
__device__ __forceinline__ void together(int barrier) { asm volatile("bar.sync %0, 128;" ::"r"(barrier) : "memory"); }
template <int CL>
__device__ __forceinline__ void cluster_sync() {
  if constexpr (CL > 1)
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
  else
    __syncthreads();
}

// Descriptor of an operand whose rows of 128 bytes are swizzled; `leading` only counts for columns of b.
__device__ __forceinline__ uint64_t operand(uint32_t address, int leading) {
  return (uint64_t{1} << 62) | (uint64_t{1024 >> 4} << 32) | (static_cast<uint64_t>(leading >> 4) << 16) |
         ((address & 0x3FFFF) >> 4);
}

#define F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F16(i) F4(i), F4(i + 4), F4(i + 8), F4(i + 12)
#define F64(i) F16(i), F16(i + 16), F16(i + 32), F16(i + 48)
#define LIST64                                                                                             \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27," \
  "%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,"   \
  "%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define LIST128                                                                                             \
  LIST64                                                                                                    \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,"   \
  "%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,"     \
  "%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define MULTIPLY128(TYPE)                                                                            \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"                                          \
               "wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPE "." TYPE " {" LIST64 "}, %64, "   \
               "%65, p, 1, 1, 0, 1;\n}"                                                              \
               : F64(0)                                                                              \
               : "l"(a), "l"(b), "r"(add))
#define MULTIPLY256(TYPE)                                                                            \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"                                         \
               "wgmma.mma_async.sync.aligned.m64n256k16.f32." TYPE "." TYPE " {" LIST128 "}, %128, " \
               "%129, p, 1, 1, 0, 1;\n}"                                                             \
               : F64(0), F64(64)                                                                     \
               : "l"(a), "l"(b), "r"(add))

template <typename T>
__device__ __forceinline__ void multiply(float (&d)[BN / 2], uint64_t a, uint64_t b, int add) {
  if constexpr (BN == 256 && std::is_same_v<T, __half>) MULTIPLY256("f16");
  else if constexpr (BN == 256) MULTIPLY256("bf16");
  else if constexpr (std::is_same_v<T, __half>) MULTIPLY128("f16");
  else MULTIPLY128("bf16");
}

// Which tile comes when: columns of GROUP tiles, so that those at work together share rows and columns.
__device__ __forceinline__ void place(int tile, int tall, int across, int& row, int& column) {
  const int band = GROUP * across, first = tile / band * GROUP, height = min(tall - first, GROUP);
  row = first + tile % band % height;
  column = tile % band / height;
}

template <typename T, int CL>
__global__ void __launch_bounds__(THREADS, 1)
    tiles(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
          const __grid_constant__ CUtensorMap c_map, int tall, int across, int steps) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ uint8_t raw[];
  const uint32_t base = (shared(raw) + 1023) & ~1023u;
  const uint32_t a_at = base, b_at = a_at + STAGES * A_BYTES, c_at = b_at + STAGES * B_BYTES;
  const uint32_t full = c_at + 2 * STAGING, empty = full + 8 * STAGES;
  const int group = threadIdx.x / 128, rank = CL > 1 ? blockIdx.x % CL : 0;
  const int first = blockIdx.x / CL, stride = gridDim.x / CL, count = tall * across;
  if (threadIdx.x == 0) {
    announce(&a_map);
    announce(&b_map);
    announce(&c_map);
    for (int s = 0; s < STAGES; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * s));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(empty + 8 * s), "r"(8 * CL));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster_sync<CL>();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      int stage = 0, parity = 0;
      for (int tile = first; tile < count; tile += stride) {
        int row, column;
        place(tile, tall, across, row, column);
        const int m = (row * CL + rank) * BM, n = column * BN;
        for (int k = 0; k < steps; ++k) {
          const uint32_t ready = full + 8 * stage, b_to = b_at + stage * B_BYTES;
          wait(empty + 8 * stage, parity ^ 1);
          expect(ready, A_BYTES + B_BYTES);
          fetch(a_at + stage * A_BYTES, &a_map, k * BK, m, ready);
          for (int i = rank * (BN / 64 / CL); i < (rank + 1) * (BN / 64 / CL); ++i) {
            if constexpr (CL > 1)
              fetch_for_all(b_to + i * (BK * 128), &b_map, n + i * 64, k * BK, ready, (1 << CL) - 1);
            else
              fetch(b_to + i * (BK * 128), &b_map, n + i * 64, k * BK, ready);
          }
          if (++stage == STAGES) stage = 0, parity ^= 1;
        }
      }
    }
    __syncwarp();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int half = group - 1, lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const uint32_t staging = c_at + half * STAGING;
    const uint32_t line = staging + (warp * 16 + lane % 16) * 128;
    int stage = 0, parity = 0;
    float d[BN / 2];
    for (int tile = first; tile < count; tile += stride) {
      int before = 0;
      for (int k = 0; k < steps; ++k) {
        wait(full + 8 * stage, parity);
        const uint64_t a = operand(a_at + stage * A_BYTES + half * (64 * 128), 0);
        const uint64_t b = operand(b_at + stage * B_BYTES, BK * 128);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int step = 0; step < BK / 16; ++step)
          multiply<T>(d, a + step * 2, b + step * (2048 >> 4), k > 0 || step > 0);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (k > 0) {
          asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
          if (lane < CL) arrive(empty + 8 * before, lane);
        }
        before = stage;
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
#pragma unroll
      for (int i = 0; i < BN / 2; ++i) asm volatile("" : "+f"(d[i])::"memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
      for (int i = 0; i < BN / 2; ++i) asm volatile("" : "+f"(d[i])::"memory");
      if (lane < CL) arrive(empty + 8 * before, lane);
      int row, column;
      place(tile, tall, across, row, column);
      const int m = (row * CL + rank) * BM + half * 64, n = column * BN;
#pragma unroll
      for (int part = 0; part < BN / 128; ++part) {
        if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        together(1 + half);
#pragma unroll
        for (int j = 0; j < 8; ++j) {  // sixteen columns each
          const float* v = d + part * 64 + j * 8;
          const uint32_t to = line + j / 4 * (64 * 128) + (((j % 4 * 2 + lane / 16) ^ (lane % 8)) << 4);
          asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                       "r"(pack<T>(v[0], v[1])), "r"(pack<T>(v[2], v[3])), "r"(pack<T>(v[4], v[5])),
                       "r"(pack<T>(v[6], v[7]))
                       : "memory");
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        together(1 + half);
        if (threadIdx.x % 128 == 0) {
          store(&c_map, n + part * 128, m, staging);
          store(&c_map, n + part * 128 + 64, m, staging + 64 * 128);
          asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        }
      }
    }
    if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  cluster_sync<CL>();
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

template <typename T, int CL>
int launch(Encode encode, const T* a, const T* b, T* c, int64_t M, int64_t N, int64_t K, int cores,
           cudaStream_t stream) {
  CUtensorMap a_map, b_map, c_map;
  if (!describe<T>(encode, &a_map, a, M, K, BM) || !describe<T>(encode, &b_map, b, K, N, BK) ||
      !describe<T>(encode, &c_map, c, M, N, 64))
    return cudaErrorInvalidValue;
  const int tall = static_cast<int>((M + BM * CL - 1) / (BM * CL)), across = static_cast<int>((N + BN - 1) / BN);
  const int steps = static_cast<int>((K + BK - 1) / BK);
  const int64_t pairs = static_cast<int64_t>(tall) * across;
  cudaError_t problem = cudaFuncSetAttribute(tiles<T, CL>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
  if (problem != cudaSuccess) return problem;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = CL;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = dim3(static_cast<unsigned>(pairs < cores / CL ? pairs * CL : cores / CL * CL));
  how.blockDim = dim3(THREADS);
  how.dynamicSmemBytes = SHARED;
  how.stream = stream;
  how.attrs = &attribute;
  how.numAttrs = 1;
  problem = cudaLaunchKernelEx(&how, tiles<T, CL>, a_map, b_map, c_map, tall, across, steps);
  return problem != cudaSuccess ? problem : cudaGetLastError();
}

template <typename T>
int product(const T* a, const T* b, T* c, int64_t M, int64_t N, int64_t K, cudaStream_t stream) {
  if (M == 0 || N == 0) return 0;
  if constexpr (sizeof(T) == 2) {
    const bool aligned = (reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) |
                          reinterpret_cast<uintptr_t>(c)) % 16 == 0;
    int device = 0, major = 0, cores = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device);
    const bool fits = M < INT_MAX / 2 && N < INT_MAX / 2 && K < INT_MAX / 2;
    if (major == 9 && aligned && fits && K > 0 && K % 8 == 0 && N % 8 == 0) {
      if (const Encode encode = encoder()) {
        if (CLUSTER > 1 && M > BM) return launch<T, CLUSTER>(encode, a, b, c, M, N, K, cores, stream);
        return launch<T, 1>(encode, a, b, c, M, N, K, cores, stream);
      }
    }
  }
  plain<T><<<static_cast<unsigned>((M + 63) / 64 * ((N + 63) / 64)), 256, 0, stream>>>(a, b, c, M, N, K);
  return cudaGetLastError();
}

}  // namespace

extern "C" int matmul(const DTYPE_T* a, const DTYPE_T* b, DTYPE_T* c, int64_t M, int64_t N, int64_t K,
                      cudaStream_t stream) {
  return product<DTYPE_T>(a, b, c, M, N, K, stream);
}
