// /// kernelwright
// strategy = "copied-ahead: tiles are copied ahead without waiting, each warp multiplies fragments out of swizzled shared memory with the older matrix instructions; any alignment"
// tune.BN = [256, 128]
// tune.STAGES = [4, 3, 5]
// tune.GROUP = [8, 4, 16]
// where = ["(128 + BN) * 128 * STAGES <= 220000"]
// cures = ["memory latency", "compute"]
// ///
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

constexpr int BM = 128, BK = 64, THREADS = 256, A_BYTES = BM * BK * 2, B_BYTES = BK * BN * 2;
constexpr int SHARED = STAGES * (A_BYTES + B_BYTES);

template <typename T>
__device__ __forceinline__ float wide(T v) { return static_cast<float>(v); }
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
__device__ __forceinline__ void matrices(uint32_t (&r)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}
__device__ __forceinline__ void transposed(uint32_t (&r)[4], uint32_t from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(from)
               : "memory");
}
#define MULTIPLY(TYPE)                                                                \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE                 \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
template <typename T>
__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (std::is_same_v<T, __half>) MULTIPLY("f16");
  else MULTIPLY("bf16");
}

// Eight numbers of a row of `width`, zeros where there are none. Whole vectors do not wait for memory.
template <typename T, bool ALIGNED>
__device__ __forceinline__ void fetch(uint32_t to, const T* data, int row, int rows, int column, int width, int end) {
  const T* from = data + static_cast<int64_t>(row) * width + column;
  if constexpr (ALIGNED) {
    const bool there = row < rows && column < end;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(there ? from : data),
                 "r"(there ? 16 : 0)
                 : "memory");
  } else {
    uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float low = row < rows && column + i * 2 < end ? wide(from[i * 2]) : 0.0f;
      const float high = row < rows && column + i * 2 + 1 < end ? wide(from[i * 2 + 1]) : 0.0f;
      words[i] = pack<T>(low, high);
    }
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]),
                 "r"(words[3])
                 : "memory");
  }
}

// Sums of a tile of 128 x BN over the depth from .. to, two by four warps; STAGES tiles are on their way.
template <typename T, bool ALIGNED>
__device__ __forceinline__ void sum(float (&d)[4][BN / 32][4], const T* a, const T* b, int m0, int n0, int M, int N,
                                    int K, int from, int to, uint32_t base) {
  constexpr int WIDE = BN / 4;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, wm = warp / 4 * 64, wn = warp % 4 * WIDE;
  const auto bring = [&](int k, int slot) {
    const uint32_t a_to = base + slot * (A_BYTES + B_BYTES), b_to = a_to + A_BYTES;
    if (k < to) {
#pragma unroll
      for (int i = threadIdx.x; i < BM * 8; i += THREADS)
        fetch<T, ALIGNED>(a_to + i / 8 * 128 + ((i % 8 ^ (i / 8 % 8)) << 4), a, m0 + i / 8, M, k + i % 8 * 8, K,
                          min(K, to));
#pragma unroll
      for (int i = threadIdx.x; i < BK * (BN / 8); i += THREADS) {
        const int row = i / (BN / 8), chunk = i % (BN / 8);
        fetch<T, ALIGNED>(b_to + row * (BN * 2) + ((chunk ^ (row % 8)) << 4), b, k + row, min(K, to), n0 + chunk * 8,
                          N, N);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int s = 0; s < STAGES - 1; ++s) bring(from + s * BK, s);
  int slot = 0;
  for (int k = from; k < to; k += BK) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads();
    bring(k + (STAGES - 1) * BK, slot == 0 ? STAGES - 1 : slot - 1);
    const uint32_t a_at = base + slot * (A_BYTES + B_BYTES), b_at = a_at + A_BYTES;
    uint32_t x[2][4][4], y[2][BN / 64][4];
    const auto load = [&](int step) {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        matrices(x[step % 2][i],
                 a_at + (wm + i * 16 + lane % 16) * 128 + (((step * 2 + lane / 16) ^ (lane % 8)) << 4));
#pragma unroll
      for (int i = 0; i < BN / 64; ++i)
        transposed(y[step % 2][i], b_at + (step * 16 + lane % 16) * (BN * 2) +
                                       (((wn / 8 + i * 2 + lane / 16) ^ (lane % 8)) << 4));
    };
    load(0);
#pragma unroll
    for (int step = 0; step < BK / 16; ++step) {
      if (step + 1 < BK / 16) load(step + 1);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < BN / 64; ++j) {
          multiply<T>(d[i][j * 2], x[step % 2][i], y[step % 2][j][0], y[step % 2][j][1]);
          multiply<T>(d[i][j * 2 + 1], x[step % 2][i], y[step % 2][j][2], y[step % 2][j][3]);
        }
    }
    if (++slot == STAGES) slot = 0;
  }
}

// Calls put(row, column, first, second) for all pairs of neighbours of a tile.
template <typename Put>
__device__ __forceinline__ void each_pair(float (&d)[4][BN / 32][4], int m0, int n0, Put put) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = m0 + warp / 4 * 64 + lane / 4, column = n0 + warp % 4 * (BN / 4) + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
      for (int j = 0; j < BN / 32; ++j)
        put(row + i * 16 + r * 8, column + j * 8, d[i][j][r * 2], d[i][j][r * 2 + 1]);
}

// Which tile comes when: columns of GROUP tiles, so that those at work together share rows and columns.
__device__ __forceinline__ void place(int tile, int tall, int across, int& row, int& column) {
  const int band = GROUP * across, first = tile / band * GROUP, height = min(tall - first, GROUP);
  row = first + tile % band % height;
  column = tile % band / height;
}

template <typename T, bool ALIGNED>
__global__ void __launch_bounds__(THREADS, 1) tiles(const T* a, const T* b, T* c, int M, int N, int K) {
  extern __shared__ __align__(128) uint8_t raw[];
  int row, column;
  place(blockIdx.x, (M + BM - 1) / BM, (N + BN - 1) / BN, row, column);
  float d[4][BN / 32][4] = {};
  sum<T, ALIGNED>(d, a, b, row * BM, column * BN, M, N, K, 0, K, shared(raw));
  each_pair(d, row * BM, column * BN, [&](int m, int n, float first, float second) {
    if (m >= M || n >= N) return;
    T* to = c + static_cast<int64_t>(m) * N + n;
    if (ALIGNED) {
      *reinterpret_cast<uint32_t*>(to) = pack<T>(first, second);
    } else {
      to[0] = narrow<T>(first);
      if (n + 1 < N) to[1] = narrow<T>(second);
    }
  });
}

template <typename T, bool ALIGNED>
int launch(const T* a, const T* b, T* c, int M, int N, int K, cudaStream_t stream) {
  const auto kernel = tiles<T, ALIGNED>;
  const cudaError_t problem = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
  if (problem != cudaSuccess) return problem;
  kernel<<<static_cast<unsigned>((M + BM - 1) / BM * ((N + BN - 1) / BN)), THREADS, SHARED, stream>>>(a, b, c, M, N, K);
  return cudaGetLastError();
}

template <typename T>
int product(const T* a, const T* b, T* c, int64_t M, int64_t N, int64_t K, cudaStream_t stream) {
  if (M == 0 || N == 0) return 0;
  if constexpr (sizeof(T) == 2) {
    if (M < INT_MAX / 2 && N < INT_MAX / 2 && K < INT_MAX / 2) {
      const int m = static_cast<int>(M), n = static_cast<int>(N), k = static_cast<int>(K);
      const uintptr_t all = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) | reinterpret_cast<uintptr_t>(c);
      if (all % 16 == 0 && K % 8 == 0 && N % 8 == 0) return launch<T, true>(a, b, c, m, n, k, stream);
      return launch<T, false>(a, b, c, m, n, k, stream);
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
