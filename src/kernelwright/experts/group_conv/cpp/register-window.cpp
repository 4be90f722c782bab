// /// kernelwright
// strategy = "register-window: padded rows are copied once, then a strip of outputs for several channels stays in registers over the window"
// tune.CHANNELS = [8, 2, 4]
// tune.STRIP = [2, 1, 3, 4]
// tune.ROWS = [16, 4, 8, 32]
// where = ["CHANNELS * STRIP <= 24"]
// cures = ["compute", "memory latency"]
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
constexpr int64_t WIDTH = STRIP * LANES;
constexpr int64_t PITCH = WIDTH + 2;
constexpr int64_t DEPTH = 8;  // input channels copied at a time

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// rows r0-1 .. r0+rows of one channel, columns c0-1 .. c0+WIDTH, zeros outside the image
inline void copy_padded(const float* x, int64_t H, int64_t W, int64_t r0, int64_t rows, int64_t c0, float* to) {
  for (int64_t r = r0 - 1; r <= r0 + rows; ++r, to += PITCH) {
    if (r < 0 || r >= H) {
      for (int64_t j = 0; j < PITCH; ++j) to[j] = 0.0f;
      continue;
    }
    const float* row = x + r * W;
    const int64_t first = c0 == 0 ? 1 : 0, last = least(PITCH, W - c0 + 1);
    if (first) to[0] = 0.0f;
    for (int64_t j = first; j < last; ++j) to[j] = row[c0 - 1 + j];
    for (int64_t j = last; j < PITCH; ++j) to[j] = 0.0f;
  }
}

// One output row of COUNT channels; weights of channel o start at weight + o * weight_stride.
template <int COUNT>
inline void strip(const float* x, int64_t plane, int64_t depth, const float* weight, int64_t weight_stride, float* y,
                  int64_t y_stride, int64_t cols, bool add) {
  Vec acc[COUNT][STRIP] = {};
  for (int64_t c = 0; c < depth; ++c, x += plane, weight += 9) {
    for (int t = 0; t < 9; ++t) {
      const float* p = x + t / 3 * PITCH + t % 3;
      Vec in[STRIP];
#pragma GCC unroll 8
      for (int v = 0; v < STRIP; ++v) in[v] = load(p + v * LANES);
#pragma GCC unroll 8
      for (int o = 0; o < COUNT; ++o) {
        const float w = weight[o * weight_stride + t];
#pragma GCC unroll 8
        for (int v = 0; v < STRIP; ++v) acc[o][v] += w * in[v];
      }
    }
  }
  float out[COUNT][WIDTH];
#pragma GCC unroll 8
  for (int o = 0; o < COUNT; ++o) {
#pragma GCC unroll 8
    for (int v = 0; v < STRIP; ++v) store(&out[o][v * LANES], acc[o][v]);
  }
  for (int o = 0; o < COUNT; ++o, y += y_stride) {
    if (cols == WIDTH) {
      for (int v = 0; v < STRIP; ++v) {
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
  const int64_t group = C / G, bands = (H + ROWS - 1) / ROWS, strips = (W + WIDTH - 1) / WIDTH;
#pragma omp parallel for schedule(static)
  for (int64_t task = 0; task < N * G * bands; ++task) {
    float window[DEPTH * (ROWS + 2) * PITCH];
    const int64_t r0 = task % bands * ROWS, rows = least(ROWS, H - r0), plane = (rows + 2) * PITCH;
    const int64_t first = task / bands * group;  // (image * G + group) * C / G: the first channel's plane
    const float* w = weight + first % C * group * 9;
    for (int64_t s = 0; s < strips; ++s) {
      const int64_t c0 = s * WIDTH, cols = least(WIDTH, W - c0);
      for (int64_t d0 = 0; d0 < group; d0 += DEPTH) {
        const int64_t depth = least(DEPTH, group - d0);
        for (int64_t d = 0; d < depth; ++d) {
          copy_padded(x + (first + d0 + d) * H * W, H, W, r0, rows, c0, window + d * plane);
        }
        int64_t o = 0;
        for (; o + CHANNELS <= group; o += CHANNELS) {
          for (int64_t r = 0; r < rows; ++r) {
            strip<CHANNELS>(window + r * PITCH, plane, depth, w + (o * group + d0) * 9, group * 9,
                            y + ((first + o) * H + r0 + r) * W + c0, H * W, cols, d0 > 0);
          }
        }
        for (; o < group; ++o) {
          for (int64_t r = 0; r < rows; ++r) {
            strip<1>(window + r * PITCH, plane, depth, w + (o * group + d0) * 9, group * 9,
                     y + ((first + o) * H + r0 + r) * W + c0, H * W, cols, d0 > 0);
          }
        }
      }
    }
  }
  return 0;
}
