// /// kernelwright
// strategy = "input-columns: the smaller x is transposed instead of the weights, vectors run over rows of x and tiles of y are turned when stored"
// tune.NR = [8, 4, 6]
// tune.MV = [2, 3, 4]
// where = ["NR * MV <= 24"]
// cures = ["compute", "memory bandwidth"]
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

constexpr int64_t MR = MV * LANES;

// NR columns of y for the MR rows of one panel of x. Columns past the end repeat the last one.
inline void tile(const float* panel, int64_t K, int64_t rows, const float* weight, const float* bias, float divisor,
                 float* y, int64_t N, int64_t cols) {
  Vec acc[NR][MV] = {};
  const float* col[NR];
  for (int j = 0; j < NR; ++j) col[j] = weight + least(j, cols - 1) * K;
  for (int64_t k = 0; k < K; ++k, panel += MR) {
    Vec in[MV];
#pragma GCC unroll 8
    for (int v = 0; v < MV; ++v) in[v] = load(panel + v * LANES);
#pragma GCC unroll 16
    for (int j = 0; j < NR; ++j) {
      const float w = col[j][k];
#pragma GCC unroll 8
      for (int v = 0; v < MV; ++v) acc[j][v] += w * in[v];
    }
  }
  alignas(64) float out[NR][MR];
#pragma GCC unroll 16
  for (int j = 0; j < NR; ++j) {
    const float shift = bias[least(j, cols - 1)];
#pragma GCC unroll 8
    for (int v = 0; v < MV; ++v) {
      const Vec value = acc[j][v] + shift;
      store(&out[j][v * LANES], (value < 0.0f ? Vec{} : value) / divisor);
    }
  }
  if (cols >= NR) {
    for (int64_t i = 0; i < rows; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < NR; ++j) y[i * N + j] = out[j][i];
    }
  } else {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < cols; ++j) y[i * N + j] = out[j][i];
    }
  }
}

}  // namespace

extern "C" int64_t linear_relu_div_workspace(int64_t M, int64_t, int64_t K) {
  return tiles(M, MR) * MR * K * 4 + 64;
}

extern "C" int linear_relu_div(const float* x, const float* weight, const float* bias, float* y, float divisor,
                               int64_t M, int64_t N, int64_t K, void* workspace) {
  float* panels = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(workspace) + 63) / 64 * 64);
  const int64_t row_tiles = tiles(M, MR), col_tiles = tiles(N, NR);
#pragma omp parallel
  {
    // Slices of the depth, so that few rows still keep every thread busy.
#pragma omp for schedule(static)
    for (int64_t t = 0; t < row_tiles * tiles(K, 64); ++t) {
      const int64_t i = t % row_tiles * MR, k = t / row_tiles * 64;
      transpose(x + i * K + k, K, least(MR, M - i), least(64, K - k), panels + i * K + k * MR, MR);
    }
#pragma omp for schedule(static)
    for (int64_t t = 0; t < row_tiles * col_tiles; ++t) {
      const int64_t i = t / col_tiles * MR, j = t % col_tiles * NR;
      tile(panels + i * K, K, least(MR, M - i), weight + j * K, bias + j, divisor, y + i * N + j, N, N - j);
    }
  }
  return 0;
}
