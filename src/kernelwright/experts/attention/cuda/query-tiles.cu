// /// kernelwright
// strategy = "query-tiles: each warp keeps sixteen queries, their scores and sums in registers, blocks of keys and values are copied ahead"
// tune.BN = [64, 128, 32]
// tune.WARPS = [4, 8]
// where = ["(16 * WARPS + 4 * BN) * D * 2 <= 220000"]
// cures = ["memory bandwidth", "memory latency"]
// ///
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <climits>
#include <cmath>
#include <cstdint>
#include <type_traits>

#ifndef DTYPE_T
#define DTYPE_T __nv_bfloat16
#endif

namespace {

constexpr int BM = 16 * WARPS, THREADS = 32 * WARPS;

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
__device__ __forceinline__ float power(float v) {
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(v));
  return out;
}

// Any type, any depth: a warp for each query, 32 keys at a time, 256 columns at a time.
template <typename T>
__global__ void __launch_bounds__(128)
    plain(const T* q, const T* k, const T* v, T* o, int causal, int64_t rows, int64_t S, int64_t D) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * 4 + threadIdx.x / 32;
  if (row >= rows) return;
  const int lane = threadIdx.x % 32;
  const int64_t head = row / S * S * D, limit = causal ? row % S + 1 : S;
  const float scale = rsqrtf(static_cast<float>(D)) * 1.4426950408889634f;
  for (int64_t c = 0; c < D; c += 256) {
    float top = -INFINITY, total = 0.0f, sum[8] = {};
    for (int64_t j = 0; j < limit; j += 32) {
      float score = -INFINITY;
      if (j + lane < limit) {
        score = 0.0f;
        for (int64_t d = 0; d < D; ++d) score += wide(q[row * D + d]) * wide(k[head + (j + lane) * D + d]);
      }
      float next = score;
      for (int step = 16; step; step /= 2) next = fmaxf(next, __shfl_xor_sync(~0u, next, step));
      next = fmaxf(top, next);
      const float base = next == -INFINITY ? 0.0f : next * scale;
      const float keep = power(top * scale - base), weight = power(score * scale - base);
      top = next;
      total = total * keep + weight;
      for (int i = 0; i < 8; ++i) sum[i] *= keep;
      for (int t = 0; t < 32 && j + t < limit; ++t) {
        const float w = __shfl_sync(~0u, weight, t);
        for (int i = 0; i < 8; ++i)
          if (c + lane + 32 * i < D) sum[i] += w * wide(v[head + (j + t) * D + c + lane + 32 * i]);
      }
    }
    for (int step = 16; step; step /= 2) total += __shfl_xor_sync(~0u, total, step);
    for (int i = 0; i < 8; ++i)
      if (c + lane + 32 * i < D) o[row * D + c + lane + 32 * i] = narrow<T>(sum[i] / total);
  }
}

__device__ __forceinline__ uint32_t shared(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
// Sixteen bytes, or as many zeros.
__device__ __forceinline__ void fetch(uint32_t to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(there ? 16 : 0) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LEFT>
__device__ __forceinline__ void arrived() {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
  __syncthreads();
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
#define MULTIPLY(TYPE)                                                                                         \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE                                          \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                          \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
template <typename T>
__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t* a, uint32_t b0, uint32_t b1) {
  if constexpr (std::is_same_v<T, __half>) MULTIPLY("f16");
  else MULTIPLY("bf16");
}

// Rows of D numbers, padded with zeros to P; sixteen bytes at a time, their places swizzled within 128 bytes.
template <int P>
__device__ __forceinline__ uint32_t spot(int row, int chunk) {
  return row * (P * 2) + ((chunk ^ (row % 8)) << 4);
}
template <typename T, int P, int ROWS>
__device__ __forceinline__ void rows_in(uint32_t to, const T* head, int first, int S, int D) {
#pragma unroll
  for (int i = threadIdx.x; i < ROWS * (P / 8); i += THREADS) {
    const int row = i / (P / 8), chunk = i % (P / 8);
    const bool there = first + row < S && chunk * 8 < D;
    fetch(to + spot<P>(row, chunk), there ? head + static_cast<int64_t>(first + row) * D + chunk * 8 : head, there);
  }
}

// A warp keeps sixteen queries, their sums and their scores in registers.
template <int P>
struct Rows {
  float o[P / 8][4] = {};
  float top[2] = {-INFINITY, -INFINITY}, total[2] = {};

  __device__ __forceinline__ void soften(float (&s)[BN / 8][4], float scale) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float next = top[r];
#pragma unroll
      for (int i = 0; i < BN / 8; ++i) next = fmaxf(next, fmaxf(s[i][r * 2], s[i][r * 2 + 1]));
      next = fmaxf(next, __shfl_xor_sync(~0u, next, 1));
      next = fmaxf(next, __shfl_xor_sync(~0u, next, 2));
      const float base = next == -INFINITY ? 0.0f : next * scale, keep = power(top[r] * scale - base);
      top[r] = next;
      float sum = 0.0f;
#pragma unroll
      for (int i = 0; i < BN / 8; ++i) {
        s[i][r * 2] = power(s[i][r * 2] * scale - base);
        s[i][r * 2 + 1] = power(s[i][r * 2 + 1] * scale - base);
        sum += s[i][r * 2] + s[i][r * 2 + 1];
      }
      total[r] = total[r] * keep + sum;
#pragma unroll
      for (int i = 0; i < P / 8; ++i) o[i][r * 2] *= keep, o[i][r * 2 + 1] *= keep;
    }
  }

  __device__ __forceinline__ void gather() {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      total[r] += __shfl_xor_sync(~0u, total[r], 1);
      total[r] += __shfl_xor_sync(~0u, total[r], 2);
    }
  }
};

// Queries row .. row + BM of one head meet the keys from .. to (blocks of BN).
template <typename T, int P>
__device__ __forceinline__ void meet(Rows<P>& mine, const T* q, const T* k, const T* v, int row, int from, int to,
                                     int causal, int S, int D, float scale, uint32_t base) {
  constexpr uint32_t KEYS = BN * P * 2;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const uint32_t q_at = base, k_at = q_at + BM * P * 2, v_at = k_at + 2 * KEYS;
  rows_in<T, P, BM>(q_at, q, row, S, D);
  rows_in<T, P, BN>(k_at, k, from * BN, S, D);
  rows_in<T, P, BN>(v_at, v, from * BN, S, D);
  commit();
  uint32_t a[P / 16][4];
  const int first = row + warp * 16 + lane / 4;
  for (int j = from; j < to; ++j) {
    const uint32_t now = (j - from) % 2 * KEYS;
    if (j + 1 < to) {
      rows_in<T, P, BN>(k_at + (KEYS - now), k, (j + 1) * BN, S, D);
      rows_in<T, P, BN>(v_at + (KEYS - now), v, (j + 1) * BN, S, D);
    }
    commit();
    arrived<1>();
    if (j == from) {
#pragma unroll
      for (int i = 0; i < P / 16; ++i) matrices(a[i], q_at + spot<P>(warp * 16 + lane % 16, i * 2 + lane / 16));
    }
    float s[BN / 8][4] = {};
#pragma unroll
    for (int i = 0; i < P / 16; ++i) {
#pragma unroll
      for (int n = 0; n < BN / 16; ++n) {
        uint32_t b[4];
        matrices(b, k_at + now + spot<P>(n * 16 + lane % 8 + lane / 16 * 8, i * 2 + lane / 8 % 2));
        multiply<T>(s[n * 2], a[i], b[0], b[1]);
        multiply<T>(s[n * 2 + 1], a[i], b[2], b[3]);
      }
    }
    if ((causal && (j + 1) * BN - 1 > row + warp * 16) || (j + 1) * BN > S) {
#pragma unroll
      for (int i = 0; i < BN / 8; ++i) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const int key = j * BN + i * 8 + lane % 4 * 2 + c % 2;
          if (key >= S || (causal && key > first + c / 2 * 8)) s[i][c] = -INFINITY;
        }
      }
    }
    mine.soften(s, scale);
#pragma unroll
    for (int n = 0; n < BN / 16; ++n) {
      const uint32_t w[4] = {pack<T>(s[n * 2][0], s[n * 2][1]), pack<T>(s[n * 2][2], s[n * 2][3]),
                             pack<T>(s[n * 2 + 1][0], s[n * 2 + 1][1]), pack<T>(s[n * 2 + 1][2], s[n * 2 + 1][3])};
#pragma unroll
      for (int i = 0; i < P / 16; ++i) {
        uint32_t b[4];
        transposed(b, v_at + now + spot<P>(n * 16 + lane % 16, i * 2 + lane / 16));
        multiply<T>(mine.o[i * 2], w, b[0], b[1]);
        multiply<T>(mine.o[i * 2 + 1], w, b[2], b[3]);
      }
    }
    __syncthreads();
  }
  mine.gather();
}

template <typename T, int P>
__global__ void __launch_bounds__(THREADS)
    tiles(const T* q, const T* k, const T* v, T* o, int causal, int heads, int S, int D, float scale) {
  extern __shared__ __align__(128) uint8_t raw[];
  const int tall = (S + BM - 1) / BM, lane = threadIdx.x % 32;
  // The longest rows first; heads side by side within a row only as far as their keys fit the cache.
  const int band = max(1, min(heads, (24 << 20) / (4 * S * D > 0 ? 4 * S * D : INT_MAX)));
  const int begin = blockIdx.x / (band * tall) * band, width = min(band, heads - begin);
  const int rest = blockIdx.x - begin * tall, row = (tall - 1 - rest / width) * BM;
  const int64_t head = static_cast<int64_t>(begin + rest % width) * S * D;
  Rows<P> mine;
  meet<T, P>(mine, q + head, k + head, v + head, row, 0, (min(S, causal ? row + BM : S) + BN - 1) / BN, causal, S, D,
             scale, shared(raw));
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int at = row + threadIdx.x / 32 * 16 + lane / 4 + r * 8;
    const float share = 1.0f / mine.total[r];
    if (at >= S) continue;
#pragma unroll
    for (int i = 0; i < P / 8; ++i) {
      const int column = i * 8 + lane % 4 * 2;
      if (column < D)
        *reinterpret_cast<uint32_t*>(o + head + static_cast<int64_t>(at) * D + column) =
            pack<T>(mine.o[i][r * 2] * share, mine.o[i][r * 2 + 1] * share);
    }
  }
}

template <typename T, int P>
int launch(const T* q, const T* k, const T* v, T* o, int causal, int heads, int S, int D, cudaStream_t stream) {
  constexpr int SHARED = (BM + 4 * BN) * P * 2;
  const cudaError_t problem = cudaFuncSetAttribute(tiles<T, P>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
  if (problem != cudaSuccess) return problem;
  tiles<T, P><<<static_cast<unsigned>((S + BM - 1) / BM * heads), THREADS, SHARED, stream>>>(
      q, k, v, o, causal, heads, S, D, 1.4426950408889634f / std::sqrt(static_cast<float>(D)));
  return cudaGetLastError();
}

template <typename T>
int attend(const T* q, const T* k, const T* v, T* o, int causal, int64_t B, int64_t H, int64_t S, int64_t D,
           cudaStream_t stream) {
  const int64_t rows = B * H * S;
  if (rows == 0 || D == 0) return 0;
  if constexpr (sizeof(T) == 2) {
    const bool aligned = (reinterpret_cast<uintptr_t>(q) | reinterpret_cast<uintptr_t>(k) |
                          reinterpret_cast<uintptr_t>(v) | reinterpret_cast<uintptr_t>(o)) % 16 == 0;
    if (aligned && rows < (1 << 28) && S * D < (1 << 28) && D % 8 == 0 && D <= 128) {
      const int heads = static_cast<int>(B * H), s = static_cast<int>(S), d = static_cast<int>(D);
      if (D <= 64) return launch<T, 64>(q, k, v, o, causal, heads, s, d, stream);
      return launch<T, 128>(q, k, v, o, causal, heads, s, d, stream);
    }
  }
  plain<T><<<static_cast<unsigned>((rows + 3) / 4), 128, 0, stream>>>(q, k, v, o, causal, rows, S, D);
  return cudaGetLastError();
}

}  // namespace

extern "C" int attention(const DTYPE_T* q, const DTYPE_T* k, const DTYPE_T* v, DTYPE_T* o, int32_t causal, int64_t B,
                         int64_t H, int64_t S, int64_t D, cudaStream_t stream) {
  return attend<DTYPE_T>(q, k, v, o, causal, B, H, S, D, stream);
}
