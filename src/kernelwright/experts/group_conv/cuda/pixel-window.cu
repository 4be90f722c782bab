// /// kernelwright
// strategy = "pixel-window: a window of a group lies in shared memory, each thread keeps several channels of a few pixels and meets every weight once"
// tune.OUT = [8, 4, 16]
// tune.TALL = [2, 4, 1]
// where = ["OUT * TALL <= 32"]
// cures = ["memory bandwidth"]
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

// Any type, any channels: a thread keeps OUT channels of TALL pixels one above the other, eight channels of the
// window and of the weights lie in shared memory at a time.
template <typename T>
__global__ void __launch_bounds__(256)
    pixels(const T* x, const T* weight, T* y, int C, int per, int H, int W, int across, int down, int parts) {
  constexpr int DEEP = 8 * TALL, IN = 8;
  __shared__ float window[IN][DEEP + 2][34], taps[IN * 9][OUT];
  const int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
  int block = blockIdx.x;
  const int x0 = block % across * 32, y0 = (block /= across) % down * DEEP, part = (block /= down) % parts;
  const int group = (block /= parts) % (C / per), n = block / (C / per), first = part * OUT;
  const int64_t plane = static_cast<int64_t>(H) * W;
  const T* from = x + (static_cast<int64_t>(n) * C + group * per) * plane;
  const T* w = weight + static_cast<int64_t>(group * per + first) * per * 9;
  float sum[TALL][OUT] = {};
  for (int c0 = 0; c0 < per; c0 += IN) {
    for (int i = threadIdx.x; i < IN * (DEEP + 2) * 34; i += 256) {
      const int c = i / ((DEEP + 2) * 34), r = i / 34 % (DEEP + 2), q = i % 34, at_y = y0 + r - 1, at_x = x0 + q - 1;
      const bool there = c0 + c < per && at_y >= 0 && at_y < H && at_x >= 0 && at_x < W;
      window[c][r][q] = there ? wide(from[(c0 + c) * plane + static_cast<int64_t>(at_y) * W + at_x]) : 0.0f;
    }
    for (int i = threadIdx.x; i < IN * 9 * OUT; i += 256) {
      const int o = i / (IN * 9), t = i % (IN * 9);
      taps[t][o] = c0 + t / 9 < per && first + o < per ? wide(w[(static_cast<int64_t>(o) * per + c0) * 9 + t]) : 0.0f;
    }
    __syncthreads();
#pragma unroll 1
    for (int c = 0; c < IN; ++c) {
#pragma unroll
      for (int t = 0; t < 9; ++t) {
        float v[TALL];
#pragma unroll
        for (int p = 0; p < TALL; ++p) v[p] = window[c][ty * TALL + p + t / 3][tx + t % 3];
#pragma unroll
        for (int o = 0; o < OUT; ++o)
#pragma unroll
          for (int p = 0; p < TALL; ++p) sum[p][o] += v[p] * taps[c * 9 + t][o];
      }
    }
    __syncthreads();
  }
  for (int p = 0; p < TALL; ++p) {
    const int at_y = y0 + ty * TALL + p, at_x = x0 + tx;
    if (at_y >= H || at_x >= W) continue;
    T* to = y + (static_cast<int64_t>(n) * C + group * per + first) * plane + static_cast<int64_t>(at_y) * W + at_x;
#pragma unroll
    for (int o = 0; o < OUT; ++o)
      if (first + o < per) to[o * plane] = narrow<T>(sum[p][o]);
  }
}

template <typename T>
int by_pixels(const T* x, const T* weight, T* y, int64_t N, int64_t C, int64_t per, int64_t H, int64_t W,
              cudaStream_t stream) {
  const int64_t across = (W + 31) / 32, down = (H + 8 * TALL - 1) / (8 * TALL), parts = (per + OUT - 1) / OUT;
  pixels<T><<<static_cast<unsigned>(across * down * parts * (C / per) * N), 256, 0, stream>>>(
      x, weight, y, static_cast<int>(C), static_cast<int>(per), static_cast<int>(H), static_cast<int>(W),
      static_cast<int>(across), static_cast<int>(down), static_cast<int>(parts));
  return cudaGetLastError();
}

template <typename T>
int convolve(const T* x, const T* weight, T* y, int64_t N, int64_t C, int64_t H, int64_t W, int64_t G,
             cudaStream_t stream) {
  if (N == 0 || C == 0 || H == 0 || W == 0 || G == 0) return 0;
  const int64_t per = C / G;
  return by_pixels<T>(x, weight, y, N, C, per, H, W, stream);
}

}  // namespace

extern "C" int group_conv(const DTYPE_T* x, const DTYPE_T* weight, DTYPE_T* y, int64_t N, int64_t C, int64_t H,
                          int64_t W, int64_t G, cudaStream_t stream) {
  return convolve<DTYPE_T>(x, weight, y, N, C, H, W, G, stream);
}
