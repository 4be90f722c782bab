// /// kernelwright
// strategy = "fragment-window: blocks walk over windows that are copied ahead, two channels of a group share a word, so that every tap is a plain offset of a fragment; matrix instructions"
// tune.HIGH = [16, 8, 4]
// tune.WIDE = [56, 64, 32]
// tune.WARPS = [8, 7, 4, 2]
// where = ["HIGH * WIDE % (16 * WARPS) == 0", "HIGH * WIDE <= 128 * WARPS"]
// cures = ["compute", "memory bandwidth"]
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
template <typename T, int OUT, int TALL>
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

template <typename T, int OUT, int TALL>
int by_pixels(const T* x, const T* weight, T* y, int64_t N, int64_t C, int64_t per, int64_t H, int64_t W,
              cudaStream_t stream) {
  const int64_t across = (W + 31) / 32, down = (H + 8 * TALL - 1) / (8 * TALL), parts = (per + OUT - 1) / OUT;
  pixels<T, OUT, TALL><<<static_cast<unsigned>(across * down * parts * (C / per) * N), 256, 0, stream>>>(
      x, weight, y, static_cast<int>(C), static_cast<int>(per), static_cast<int>(H), static_cast<int>(W),
      static_cast<int>(across), static_cast<int>(down), static_cast<int>(parts));
  return cudaGetLastError();
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
#define MULTIPLY(TYPE)                                                                \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE                 \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                       \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y))
template <typename T>
__device__ __forceinline__ void multiply(float (&d)[4], const uint32_t (&a)[4], uint2 b) {
  if constexpr (std::is_same_v<T, __half>) MULTIPLY("f16");
  else MULTIPLY("bf16");
}

constexpr int THREADS = 32 * WARPS, PIXELS = HIGH * WIDE, TILES = PIXELS / 16 / WARPS;
constexpr int ROWS = HIGH + 2, PITCH = WIDE + 16, LEFT = 8;
constexpr int PLANE = ROWS * PITCH + (ROWS * PITCH % 32 <= 8 ? 8 : 40) - ROWS * PITCH % 32;
static_assert(PIXELS % (16 * WARPS) == 0 && WIDE % 8 == 0 && PLANE % 32 == 8, "whole tiles, no conflicts of banks");

// Channels of a group padded to P. Half a step of a product is eight channels of one tap.
template <int P>
struct Layout {
  static constexpr int PAIRS = P / 2, BLOCKS = P / 8, HALVES = 9 * BLOCKS, STEPS = (HALVES + 1) / 2;
  static constexpr int BOX = (P * ROWS * PITCH * 2 + 127) / 128 * 128, WINDOW = PAIRS * PLANE * 4;
  static constexpr int RESULT_PITCH = PIXELS + 8, RESULT = P * RESULT_PITCH * 2;
  static constexpr int WEIGHTS_AT = BOX + (WINDOW > RESULT ? WINDOW : RESULT), WEIGHTS = STEPS * BLOCKS * 32 * 8;
  static constexpr int SHARED = WEIGHTS_AT + WEIGHTS;
};

// Which pixels of which group: groups are outermost, so that a block rarely needs other weights.
struct Tile {
  int x0, y0, group, plane;
  __device__ __forceinline__ Tile(int tile, int across, int down, int N, int C, int per) {
    x0 = tile % across * WIDE, y0 = (tile /= across) % down * HIGH, group = (tile /= down) / N;
    plane = tile % N * C + group * per;
  }
};

// All channels of a window and of what surrounds it, noughts beyond the image; sixteen bytes each that nobody waits for.
__device__ __forceinline__ void fetch(uint32_t box, const uint16_t* x, const Tile& tile, int per, int H, int W) {
  const uint16_t* from = x + static_cast<int64_t>(tile.plane) * H * W;
  for (int i = threadIdx.x; i < per * ROWS * (PITCH / 8); i += THREADS) {
    const int q = i % (PITCH / 8), row = i / (PITCH / 8) % ROWS, c = i / (PITCH / 8) / ROWS;
    const int at_y = tile.y0 + row - 1, at_x = tile.x0 + q * 8 - LEFT;
    const bool there = at_y >= 0 && at_y < H && at_x >= 0 && at_x < W;
    const uint16_t* at = there ? from + (static_cast<int64_t>(c) * H + at_y) * W + at_x : x;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(box + i * 16), "l"(at), "r"(there ? 16 : 0)
                 : "memory");
  }
}

// Two channels of a window side by side in each word, so that a fragment of the product is four plain loads.
template <int P>
__device__ __forceinline__ void pair_up(uint32_t* words, const uint16_t* box, int per) {
  for (int i = threadIdx.x; i < P / 2 * ROWS * (PITCH / 8); i += THREADS) {
    const int at = i % (ROWS * (PITCH / 8)) * 8, c = i / (ROWS * (PITCH / 8)) * 2;
    uint4 low = make_uint4(0, 0, 0, 0), high = low;
    if (c < per) low = *reinterpret_cast<const uint4*>(box + c * ROWS * PITCH + at);
    if (c + 1 < per) high = *reinterpret_cast<const uint4*>(box + (c + 1) * ROWS * PITCH + at);
    uint4* to = reinterpret_cast<uint4*>(words + c / 2 * PLANE + at);
    to[0] = make_uint4(__byte_perm(low.x, high.x, 0x5410), __byte_perm(low.x, high.x, 0x7632),
                       __byte_perm(low.y, high.y, 0x5410), __byte_perm(low.y, high.y, 0x7632));
    to[1] = make_uint4(__byte_perm(low.z, high.z, 0x5410), __byte_perm(low.z, high.z, 0x7632),
                       __byte_perm(low.w, high.w, 0x5410), __byte_perm(low.w, high.w, 0x7632));
  }
}

// The same without the copy engine, for rows that are not aligned.
template <int P>
__device__ __forceinline__ void pair_by_pair(uint32_t* words, const uint16_t* in, const Tile& tile, int per, int H,
                                             int W) {
  const int64_t plane = static_cast<int64_t>(H) * W;
  for (int i = threadIdx.x; i < P / 2 * ROWS * (WIDE + 2); i += THREADS) {
    const int q = i % (WIDE + 2), row = i / (WIDE + 2) % ROWS, c = i / (WIDE + 2) / ROWS * 2;
    const int y = tile.y0 + row - 1, x = tile.x0 + q - 1;
    uint32_t word = 0;
    if (y >= 0 && y < H && x >= 0 && x < W) {
      const uint16_t* at = in + c * plane + static_cast<int64_t>(y) * W + x;
      word = (c < per ? at[0] : 0) | (c + 1 < per ? static_cast<uint32_t>(at[plane]) << 16 : 0);
    }
    words[c / 2 * PLANE + row * PITCH + q + LEFT - 1] = word;
  }
}

// Weights in the order in which fragments of the product want them.
template <int P>
__device__ __forceinline__ void order_weights(uint32_t* fragments, const uint16_t* w, int per) {
  constexpr int BLOCKS = Layout<P>::BLOCKS;
  for (int i = threadIdx.x; i < Layout<P>::STEPS * BLOCKS * 64; i += THREADS) {
    const int half = i / (BLOCKS * 64) * 2 + i % 2, o = i / 64 % BLOCKS * 8 + i / 2 % 32 / 4;
    const int tap = half / BLOCKS, c = half % BLOCKS * 8 + i / 2 % 4 * 2, at = (o * per + c) * 9 + tap;
    uint32_t word = 0;
    if (tap < 9 && o < per && c < per) word = w[at] | (c + 1 < per ? static_cast<uint32_t>(w[at + 9]) << 16 : 0);
    fragments[i] = word;
  }
}

template <typename T, int P, bool BOXES>
__global__ void __launch_bounds__(THREADS)
    tiles(const T* x, const T* weight, T* y, int N, int C, int per, int H, int W, int across, int down) {
#if __CUDA_ARCH__ >= 900
  using L = Layout<P>;
  extern __shared__ __align__(128) uint8_t raw[];
  uint32_t* words = reinterpret_cast<uint32_t*>(raw + L::BOX);
  uint32_t* fragments = reinterpret_cast<uint32_t*>(raw + L::WEIGHTS_AT);
  const uint32_t box = static_cast<uint32_t>(__cvta_generic_to_shared(raw));
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, count = across * down * N * (C / per);
  const int begin = static_cast<int>(static_cast<int64_t>(count) * blockIdx.x / gridDim.x);
  const int end = static_cast<int>(static_cast<int64_t>(count) * (blockIdx.x + 1) / gridDim.x);
  const int64_t plane = static_cast<int64_t>(H) * W;
  const uint16_t* in = reinterpret_cast<const uint16_t*>(x);
  if (BOXES && begin < end) fetch(box, in, Tile(begin, across, down, N, C, per), per, H, W);
  int loaded = -1;
  for (int number = begin; number < end; ++number) {
    const Tile tile(number, across, down, N, C, per);
    const int64_t start = tile.plane * plane;
    if (BOXES) asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    if (tile.group != loaded) {
      loaded = tile.group;
      order_weights<P>(fragments, reinterpret_cast<const uint16_t*>(weight) + static_cast<int64_t>(loaded) * per * per * 9,
                       per);
    }
    if (BOXES) pair_up<P>(words, reinterpret_cast<const uint16_t*>(raw), per);
    else pair_by_pair<P>(words, in + start, tile, per, H, W);
    __syncthreads();
    if (BOXES && number + 1 < end) fetch(box, in, Tile(number + 1, across, down, N, C, per), per, H, W);
    const uint32_t* low[TILES];
    const uint32_t* high[TILES];
#pragma unroll
    for (int t = 0; t < TILES; ++t) {
      const int p = (warp * TILES + t) * 16 + lane / 4, q = p + 8;
      low[t] = words + lane % 4 * PLANE + p / WIDE * PITCH + p % WIDE + LEFT - 1;
      high[t] = words + lane % 4 * PLANE + q / WIDE * PITCH + q % WIDE + LEFT - 1;
    }
    float d[TILES][L::BLOCKS][4] = {};
#pragma unroll
    for (int step = 0; step < L::STEPS; ++step) {
      uint2 b[L::BLOCKS];
#pragma unroll
      for (int o = 0; o < L::BLOCKS; ++o)
        b[o] = reinterpret_cast<const uint2*>(fragments)[(step * L::BLOCKS + o) * 32 + lane];
      const int left = step * 2, right = left + 1 < L::HALVES ? left + 1 : left;  // weights past the end are noughts
      const int at = left % L::BLOCKS * 4 * PLANE + left / L::BLOCKS / 3 * PITCH + left / L::BLOCKS % 3;
      const int at8 = right % L::BLOCKS * 4 * PLANE + right / L::BLOCKS / 3 * PITCH + right / L::BLOCKS % 3;
#pragma unroll
      for (int t = 0; t < TILES; ++t) {
        uint32_t a[4] = {low[t][at], high[t][at], 0, 0};
        if (left + 1 < L::HALVES) a[2] = low[t][at8], a[3] = high[t][at8];
#pragma unroll
        for (int o = 0; o < L::BLOCKS; ++o) multiply<T>(d[t][o], a, b[o]);
      }
    }
    __syncthreads();  // results take the place of the window
#pragma unroll
    for (int t = 0; t < TILES; ++t) {
      const int p = (warp * TILES + t) * 16 + lane / 8 % 2 * 8;
#pragma unroll
      for (int o = 0; o < L::BLOCKS; ++o) {
        const uint32_t to = box + L::BOX + ((o * 8 + lane % 8) * L::RESULT_PITCH + p) * 2;
        asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to),
                     "r"(pack<T>(d[t][o][0], d[t][o][1])), "r"(pack<T>(d[t][o][2], d[t][o][3]))
                     : "memory");
      }
    }
    __syncthreads();
    const T* lines = reinterpret_cast<const T*>(words);
    constexpr int EACH = BOXES ? 8 : 1;
    for (int i = threadIdx.x; i < P * (PIXELS / EACH); i += THREADS) {
      const int o = i / (PIXELS / EACH), p = i % (PIXELS / EACH) * EACH;
      const int at_y = tile.y0 + p / WIDE, at_x = tile.x0 + p % WIDE;
      if (o >= per || at_y >= H || at_x >= W) continue;
      T* to = y + start + o * plane + static_cast<int64_t>(at_y) * W + at_x;
      const T* from = lines + o * L::RESULT_PITCH + p;
      if constexpr (BOXES) *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
      else *to = *from;
    }
  }
#endif
}

template <typename T, int P, bool BOXES>
int launch(const T* x, const T* weight, T* y, int N, int C, int per, int H, int W, int cores,
           cudaStream_t stream) {
  constexpr int SHARED = Layout<P>::SHARED;
  const auto kernel = tiles<T, P, BOXES>;
  cudaError_t problem = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
  int side_by_side = 0;
  if (problem == cudaSuccess)
    problem = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&side_by_side, kernel, THREADS, SHARED);
  if (problem != cudaSuccess) return problem;
  const int across = (W + WIDE - 1) / WIDE, down = (H + HIGH - 1) / HIGH, count = across * down * N * (C / per);
  const int blocks = count < cores * side_by_side ? count : cores * side_by_side;
  kernel<<<blocks, THREADS, SHARED, stream>>>(x, weight, y, N, C, per, H, W, across, down);
  return cudaGetLastError();
}

template <typename T, int P>
int choose(const T* x, const T* weight, T* y, int N, int C, int per, int H, int W, int cores, cudaStream_t stream) {
  if ((reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(y)) % 16 == 0 && W % 8 == 0)
    return launch<T, P, true>(x, weight, y, N, C, per, H, W, cores, stream);
  return launch<T, P, false>(x, weight, y, N, C, per, H, W, cores, stream);
}

template <typename T>
int convolve(const T* x, const T* weight, T* y, int64_t N, int64_t C, int64_t H, int64_t W, int64_t G,
             cudaStream_t stream) {
  if (N == 0 || C == 0 || H == 0 || W == 0 || G == 0) return 0;
  const int64_t per = C / G;
  if constexpr (sizeof(T) == 2) {
    int device = 0, major = 0, cores = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device);
    if (major >= 9 && per <= 32 && N * C * ((H + 7) / 8) < INT_MAX / 8 && H < (1 << 16) && W < (1 << 16)) {
      const int n = static_cast<int>(N), c = static_cast<int>(C), p = static_cast<int>(per);
      const int h = static_cast<int>(H), w = static_cast<int>(W);
      if (per <= 8) return choose<T, 8>(x, weight, y, n, c, p, h, w, cores, stream);
      if (per <= 16) return choose<T, 16>(x, weight, y, n, c, p, h, w, cores, stream);
      return choose<T, 32>(x, weight, y, n, c, p, h, w, cores, stream);
    }
  }
  return by_pixels<T, 8, 2>(x, weight, y, N, C, per, H, W, stream);
}

}  // namespace

extern "C" int group_conv(const DTYPE_T* x, const DTYPE_T* weight, DTYPE_T* y, int64_t N, int64_t C, int64_t H,
                          int64_t W, int64_t G, cudaStream_t stream) {
  return convolve<DTYPE_T>(x, weight, y, N, C, H, W, G, stream);
}
