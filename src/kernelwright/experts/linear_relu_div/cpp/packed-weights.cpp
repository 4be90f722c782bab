// /// kernelwright
// strategy = "packed-weights: rows of weight are transposed into panels, then register tiles with bias, ReLU and division at their end"
// tune.MR = [8, 4, 6, 12]
// tune.NV = [3, 2, 4]
// where = ["MR * NV <= 24"]
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

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

inline int64_t tiles(int64_t size, int64_t tile) { return (size + tile - 1) / tile; }

typedef float Quad __attribute__((vector_size(16)));

inline Quad quad(const float* p) {
  Quad v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// to[k * pitch + n] = from[n * stride + k], four by four; rows past `rows` become zeros up to `pitch`.
inline void transpose(const float* from, int64_t stride, int64_t rows, int64_t depth, float* to, int64_t pitch) {
  int64_t n = 0;
  for (; n + 4 <= rows; n += 4, from += 4 * stride) {
    int64_t k = 0;
    for (; k + 4 <= depth; k += 4) {
      const Quad a = quad(from + k), b = quad(from + stride + k);
      const Quad c = quad(from + 2 * stride + k), d = quad(from + 3 * stride + k);
      const Quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
      const Quad ef = __builtin_shufflevector(a, b, 2, 6, 3, 7), gh = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      const Quad out[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                           __builtin_shufflevector(ef, gh, 0, 1, 4, 5), __builtin_shufflevector(ef, gh, 2, 3, 6, 7)};
      for (int i = 0; i < 4; ++i) std::memcpy(to + (k + i) * pitch + n, &out[i], sizeof out[i]);
    }
    for (; k < depth; ++k) {
      for (int i = 0; i < 4; ++i) to[k * pitch + n + i] = from[i * stride + k];
    }
  }
  for (; n < pitch; ++n, from += stride) {
    for (int64_t k = 0; k < depth; ++k) to[k * pitch + n] = n < rows ? from[k] : 0.0f;
  }
}

constexpr int64_t NR = NV * LANES;

// Rows past the end repeat the last one; only what exists is written.
inline void tile(const float* x, int64_t K, int64_t rows, const float* panel, const float* bias, float divisor,
                 float* y, int64_t N, int64_t cols) {
  Vec acc[MR][NV] = {};
  const float* row[MR];
  for (int i = 0; i < MR; ++i) row[i] = x + least(i, rows - 1) * K;
  for (int64_t k = 0; k < K; ++k, panel += NR) {
    Vec w[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) w[v] = load(panel + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const float in = row[i][k];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) acc[i][v] += in * w[v];
    }
  }
  alignas(64) float shift[NR] = {};
  for (int64_t j = 0; j < cols; ++j) shift[j] = bias[j];
  alignas(64) float out[MR][NR];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      const Vec value = acc[i][v] + load(shift + v * LANES);
      store(&out[i][v * LANES], (value < 0.0f ? Vec{} : value) / divisor);
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) y[i * N + j] = out[i][j];
  }
}

}  // namespace

extern "C" int64_t linear_relu_div_workspace(int64_t, int64_t N, int64_t K) {
  return tiles(N, NR) * NR * K * 4 + 64;
}

extern "C" int linear_relu_div(const float* x, const float* weight, const float* bias, float* y, float divisor,
                               int64_t M, int64_t N, int64_t K, void* workspace) {
  float* panels = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(workspace) + 63) / 64 * 64);
  // The thread that packed a panel uses it at once, while it is in its cache.
#pragma omp parallel for schedule(static)
  for (int64_t t = 0; t < tiles(N, NR); ++t) {
    const int64_t j = t * NR, cols = least(NR, N - j);
    float* panel = panels + j * K;
    transpose(weight + j * K, K, cols, K, panel, NR);
    for (int64_t i = 0; i < M; i += MR) {
      tile(x + i * K, K, least(MR, M - i), panel, bias + j, divisor, y + i * N + j, N, cols);
    }
  }
  return 0;
}
