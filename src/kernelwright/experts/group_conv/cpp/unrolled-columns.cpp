// /// kernelwright
// strategy = "unrolled-columns: windows of a block of pixels become the columns of a matrix (im2col), multiplied by the weights in register tiles"
// tune.MR = [8, 4]
// tune.NV = [2, 1, 3]
// tune.TILES = [4, 1, 2]
// cures = ["compute"]
// ///
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

namespace {

typedef float Vec __attribute__((vector_size(LANES * 4)));
constexpr int64_t NR = NV * LANES;
constexpr int64_t PIXELS = TILES * NR;
constexpr int64_t DEPTH = 8;  // input channels unrolled at a time

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// columns[t][p] = the pixel that tap t of the window sees from output pixel p0 + p, zero outside.
inline void unroll(const float* x, int64_t H, int64_t W, int64_t p0, int64_t pixels, float* columns) {
  for (int t = 0; t < 9; ++t, columns += PIXELS) {
    const int64_t dy = t / 3 - 1, dx = t % 3 - 1;
    int64_t row = p0 / W, col = p0 % W;
    for (int64_t p = 0; p < pixels; ++row, col = 0) {
      const int64_t run = least(W - col, pixels - p), r = row + dy;
      float* to = columns + p;
      if (r < 0 || r >= H) {
        for (int64_t i = 0; i < run; ++i) to[i] = 0.0f;
      } else {
        const float* from = x + r * W + col + dx;
        const int64_t begin = col + dx < 0 ? 1 : 0, end = col + run + dx > W ? run - 1 : run;
        if (begin) to[0] = 0.0f;
        for (int64_t i = begin; i < end; ++i) to[i] = from[i];
        if (end < run) to[end] = 0.0f;
      }
      p += run;
    }
    for (int64_t p = pixels; p < PIXELS; ++p) columns[p] = 0.0f;
  }
}

template <int COUNT>
inline void tile(int64_t depth, const float* weight, int64_t weight_stride, const float* columns, float* y,
                 int64_t y_stride, int64_t cols, bool add) {
  Vec acc[COUNT][NV] = {};
  for (int64_t k = 0; k < depth; ++k, columns += PIXELS) {
    Vec in[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) in[v] = load(columns + v * LANES);
#pragma GCC unroll 8
    for (int o = 0; o < COUNT; ++o) {
      const float w = weight[o * weight_stride + k];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) acc[o][v] += w * in[v];
    }
  }
  float out[COUNT][NR];
#pragma GCC unroll 8
  for (int o = 0; o < COUNT; ++o) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) store(&out[o][v * LANES], acc[o][v]);
  }
  for (int o = 0; o < COUNT; ++o, y += y_stride) {
    if (cols >= NR) {
      for (int v = 0; v < NV; ++v) {
        const Vec sum = load(&out[o][v * LANES]);
        store(y + v * LANES, add ? load(y + v * LANES) + sum : sum);
      }
    } else {
      for (int64_t j = 0; j < cols; ++j) y[j] = (add ? y[j] : 0.0f) + out[o][j];
    }
  }
}

}  // namespace

extern "C" int group_conv(const float* x, const float* weight, float* y, int64_t N, int64_t C, int64_t H, int64_t W,
                          int64_t G) {
  if (N == 0 || C == 0 || H == 0 || W == 0 || G == 0) return 0;
  const int64_t group = C / G, plane = H * W, blocks = (plane + PIXELS - 1) / PIXELS;
#pragma omp parallel for schedule(static)
  for (int64_t task = 0; task < N * G * blocks; ++task) {
    alignas(64) float columns[DEPTH * 9 * PIXELS];
    const int64_t p0 = task % blocks * PIXELS, pixels = least(PIXELS, plane - p0);
    const int64_t first = task / blocks * group;  // (image * G + group) * C / G: the first channel's plane
    for (int64_t d0 = 0; d0 < group; d0 += DEPTH) {
      const int64_t depth = least(DEPTH, group - d0);
      for (int64_t d = 0; d < depth; ++d) {
        unroll(x + (first + d0 + d) * plane, H, W, p0, pixels, columns + d * 9 * PIXELS);
      }
      for (int64_t j = 0; j < pixels; j += NR) {
        int64_t o = 0;
        for (; o < group; o += o + MR <= group ? MR : 1) {
          const float* w = weight + (first % C + o) * group * 9 + d0 * 9;
          float* out = y + (first + o) * plane + p0 + j;
          if (o + MR <= group) {
            tile<MR>(depth * 9, w, group * 9, columns + j, out, plane, pixels - j, d0 > 0);
          } else {
            tile<1>(depth * 9, w, group * 9, columns + j, out, plane, pixels - j, d0 > 0);
          }
        }
      }
    }
  }
  return 0;
}
