// /// kernelwright
// strategy = "register-tiles: each thread keeps 8 x 8 sums, strips of both matrices pass through two shared buffers as floats; for float32, right for any type"
// tune.DEPTH = [16, 8]
// tune.GROUP = [8, 4, 16]
// cures = ["compute"]
// ///
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#ifndef DTYPE_T
#define DTYPE_T __nv_bfloat16
#endif

namespace {

constexpr int TILE = 128, THREADS = 256, PITCH = TILE + 4, EACH = TILE * DEPTH / 4 / THREADS;

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
// Four numbers of a row of `width`, zeros where there are none.
template <typename T, bool ALIGNED>
__device__ __forceinline__ float4 four(const T* data, int64_t row, int64_t rows, int64_t column, int64_t width) {
  if (row >= rows) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  const T* at = data + row * width + column;
  if constexpr (ALIGNED) {
    if (column >= width) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if constexpr (sizeof(T) == 4) {
      return *reinterpret_cast<const float4*>(at);
    } else {
      const uint2 v = *reinterpret_cast<const uint2*>(at);
      const T* h = reinterpret_cast<const T*>(&v);
      return make_float4(wide(h[0]), wide(h[1]), wide(h[2]), wide(h[3]));
    }
  }
  return make_float4(column < width ? wide(at[0]) : 0.0f, column + 1 < width ? wide(at[1]) : 0.0f,
                     column + 2 < width ? wide(at[2]) : 0.0f, column + 3 < width ? wide(at[3]) : 0.0f);
}

// Which tile comes when: columns of GROUP tiles, so that those at work together share rows and columns.
__device__ __forceinline__ void place(int tile, int tall, int across, int& row, int& column) {
  const int band = GROUP * across, first = tile / band * GROUP, height = min(tall - first, GROUP);
  row = first + tile % band % height;
  column = tile % band / height;
}

template <typename T, bool ALIGNED>
__global__ void __launch_bounds__(THREADS) tiles(const T* a, const T* b, T* c, int64_t M, int64_t N, int64_t K) {
  __shared__ __align__(16) float as[2][DEPTH][PITCH], bs[2][DEPTH][TILE];
  int row, column;
  place(blockIdx.x, static_cast<int>((M + TILE - 1) / TILE), static_cast<int>((N + TILE - 1) / TILE), row, column);
  const int64_t m0 = static_cast<int64_t>(row) * TILE, n0 = static_cast<int64_t>(column) * TILE;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float4 x[EACH], y[EACH];
  const auto bring = [&](int64_t k0) {
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      const int at = threadIdx.x + i * THREADS;
      x[i] = four<T, ALIGNED>(a, m0 + at / (DEPTH / 4), M, k0 + at % (DEPTH / 4) * 4, K);
      y[i] = four<T, ALIGNED>(b, k0 + at / (TILE / 4), K, n0 + at % (TILE / 4) * 4, N);
    }
  };
  const auto keep = [&](int side) {
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
      const int at = threadIdx.x + i * THREADS, m = at / (DEPTH / 4), k = at % (DEPTH / 4) * 4;
      as[side][k][m] = x[i].x, as[side][k + 1][m] = x[i].y, as[side][k + 2][m] = x[i].z, as[side][k + 3][m] = x[i].w;
      *reinterpret_cast<float4*>(&bs[side][at / (TILE / 4)][at % (TILE / 4) * 4]) = y[i];
    }
  };
  float sum[8][8] = {};
  int side = 0;
  bring(0);
  keep(0);
  __syncthreads();
  for (int64_t k0 = 0; k0 < K; k0 += DEPTH) {
    if (k0 + DEPTH < K) bring(k0 + DEPTH);
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      float u[8], v[8];
      *reinterpret_cast<float4*>(u) = *reinterpret_cast<const float4*>(&as[side][k][ty * 4]);
      *reinterpret_cast<float4*>(u + 4) = *reinterpret_cast<const float4*>(&as[side][k][ty * 4 + 64]);
      *reinterpret_cast<float4*>(v) = *reinterpret_cast<const float4*>(&bs[side][k][tx * 4]);
      *reinterpret_cast<float4*>(v + 4) = *reinterpret_cast<const float4*>(&bs[side][k][tx * 4 + 64]);
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += u[i] * v[j];
    }
    if (k0 + DEPTH < K) keep(side ^ 1);
    __syncthreads();
    side ^= 1;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int64_t m = m0 + i / 4 * 64 + ty * 4 + i % 4;
    if (m >= M) continue;
#pragma unroll
    for (int j = 0; j < 8; j += 4) {
      const int64_t n = n0 + j / 4 * 64 + tx * 4;
      T four_out[4] = {narrow<T>(sum[i][j]), narrow<T>(sum[i][j + 1]), narrow<T>(sum[i][j + 2]), narrow<T>(sum[i][j + 3])};
      if constexpr (ALIGNED) {
        using Word = std::conditional_t<sizeof(T) == 4, uint4, uint2>;
        Word word;
        memcpy(&word, four_out, sizeof word);
        if (n < N) *reinterpret_cast<Word*>(c + m * N + n) = word;
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (n + e < N) c[m * N + n + e] = four_out[e];
      }
    }
  }
}

template <typename T>
int product(const T* a, const T* b, T* c, int64_t M, int64_t N, int64_t K, cudaStream_t stream) {
  if (M == 0 || N == 0) return 0;
  const uintptr_t all = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) | reinterpret_cast<uintptr_t>(c);
  const unsigned blocks = static_cast<unsigned>((M + TILE - 1) / TILE * ((N + TILE - 1) / TILE));
  if (all % 16 == 0 && K % 4 == 0 && N % 4 == 0) tiles<T, true><<<blocks, THREADS, 0, stream>>>(a, b, c, M, N, K);
  else tiles<T, false><<<blocks, THREADS, 0, stream>>>(a, b, c, M, N, K);
  return cudaGetLastError();
}

}  // namespace

extern "C" int matmul(const DTYPE_T* a, const DTYPE_T* b, DTYPE_T* c, int64_t M, int64_t N, int64_t K,
                      cudaStream_t stream) {
  return product<DTYPE_T>(a, b, c, M, N, K, stream);
}
