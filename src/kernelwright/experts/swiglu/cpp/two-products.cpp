// /// kernelwright
// strategy = "two-products: rows of x meet gate and up together as dot products read in place, then hidden rows meet down, nothing packed"
// tune.ROWS = [4, 2, 3]
// tune.COLS = [3, 2, 4]
// tune.BAND = [96, 32]
// where = ["ROWS * COLS <= 12"]
// cures = ["memory bandwidth", "launch-bound"]
// ///
#include <cmath>
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
typedef int32_t Int __attribute__((vector_size(LANES * 4)));

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

inline int64_t tiles(int64_t size, int64_t tile) { return (size + tile - 1) / tile; }

typedef float Quad __attribute__((vector_size(16)));

// Four lanes at a time, then across the four: a short chain of dependent additions.
inline float total(Vec v) {
  Quad x[LANES / 4];
  std::memcpy(x, &v, sizeof v);
#pragma GCC unroll 4
  for (int half = LANES / 8; half > 0; half /= 2) {
#pragma GCC unroll 4
    for (int i = 0; i < half; ++i) x[i] += x[i + half];
  }
  const Quad pair = x[0] + __builtin_shufflevector(x[0], x[0], 2, 3, 0, 1);
  return pair[0] + pair[1];
}

// e^x: x = n ln 2 + r, a polynomial in r (Cephes), times 2^n. NaN stays NaN; below the normal floats is 0.
inline Vec exponential(Vec x) {
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  const Vec shifted = x * 1.44269504f + magic;
  const Vec n = shifted - magic;
  const Vec r = x - n * 0.693359375f + n * 2.12194440e-4f;
  Vec p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  Int bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 127) << 23;
  Vec power;
  std::memcpy(&power, &bits, sizeof power);
  const Vec value = x < -87.3f ? Vec{} : p * power;
  return x > 88.7f ? Vec{} + INFINITY : value;
}

inline Vec gated(Vec gate, Vec up) { return gate / (exponential(-gate) + 1.0f) * up; }

// sum[i][j] = row i of x . row j of w, for WIDE rows of w; rows past the end repeat the last one.
template <int WIDE>
inline void dots(const float* const* row, const float* const* col, int64_t K, float (*sum)[WIDE]) {
  Vec acc[ROWS][WIDE] = {};
  int64_t k = 0;
  for (; k + LANES <= K; k += LANES) {
    Vec in[ROWS];
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; ++i) in[i] = load(row[i] + k);
#pragma GCC unroll 8
    for (int j = 0; j < WIDE; ++j) {
      const Vec w = load(col[j] + k);
#pragma GCC unroll 8
      for (int i = 0; i < ROWS; ++i) acc[i][j] += in[i] * w;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < ROWS; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < WIDE; ++j) sum[i][j] = total(acc[i][j]);
  }
  for (int i = 0; i < ROWS; ++i) {
    for (int j = 0; j < WIDE; ++j) {
      for (int64_t t = k; t < K; ++t) sum[i][j] += row[i][t] * col[j][t];
    }
  }
}

inline void point_rows(const float** rows, int count, const float* first, int64_t stride, int64_t exist) {
  for (int i = 0; i < count; ++i) rows[i] = first + least(i, exist - 1) * stride;
}

// gates and ups are kept side by side, and turned into hidden values when a row's band is complete.
inline void hidden_band(const float* x, const float* gate, const float* up, float* hidden, int64_t D, int64_t F,
                        int64_t rows, int64_t band) {
  alignas(64) float gates[ROWS][BAND + LANES] = {}, ups[ROWS][BAND + LANES] = {};
  const float* row[ROWS];
  const float* col[2 * COLS];
  point_rows(row, ROWS, x, D, rows);
  for (int64_t j = 0; j < band; j += COLS) {
    float sum[ROWS][2 * COLS];
    point_rows(col, COLS, gate + j * D, D, band - j);
    point_rows(col + COLS, COLS, up + j * D, D, band - j);
    dots<2 * COLS>(row, col, D, sum);
    for (int i = 0; i < ROWS; ++i) {
      for (int64_t c = 0; c < least(COLS, band - j); ++c) {
        gates[i][j + c] = sum[i][c];
        ups[i][j + c] = sum[i][COLS + c];
      }
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < band; j += LANES) store(&gates[i][j], gated(load(&gates[i][j]), load(&ups[i][j])));
    std::memcpy(hidden + i * F, gates[i], band * sizeof(float));
  }
}

inline void output_band(const float* hidden, const float* down, float* y, int64_t D, int64_t F, int64_t rows,
                        int64_t band) {
  const float* row[ROWS];
  const float* col[2 * COLS];
  point_rows(row, ROWS, hidden, F, rows);
  for (int64_t j = 0; j < band; j += 2 * COLS) {
    float sum[ROWS][2 * COLS];
    point_rows(col, 2 * COLS, down + j * F, F, band - j);
    dots<2 * COLS>(row, col, F, sum);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t c = 0; c < least(2 * COLS, band - j); ++c) y[i * D + j + c] = sum[i][c];
    }
  }
}

}  // namespace

extern "C" int64_t swiglu_workspace(int64_t M, int64_t, int64_t F) { return M * F * 4 + 4; }

extern "C" int swiglu(const float* x, const float* gate, const float* up, const float* down, float* y, int64_t M,
                      int64_t D, int64_t F, void* workspace) {
  float* hidden = static_cast<float*>(workspace);
  const int64_t row_tiles = tiles(M, ROWS), hidden_bands = tiles(F, BAND), output_bands = tiles(D, BAND);
#pragma omp parallel
  {
    // A band of weights stays cached while all rows pass over it.
#pragma omp for schedule(static)
    for (int64_t t = 0; t < hidden_bands * row_tiles; ++t) {
      const int64_t i = t % row_tiles * ROWS, j = t / row_tiles * BAND;
      hidden_band(x + i * D, gate + j * D, up + j * D, hidden + i * F + j, D, F, least(ROWS, M - i),
                  least(BAND, F - j));
    }
#pragma omp for schedule(static)
    for (int64_t t = 0; t < output_bands * row_tiles; ++t) {
      const int64_t i = t % row_tiles * ROWS, j = t / row_tiles * BAND;
      output_band(hidden + i * F, down + j * F, y + i * D + j, D, F, least(ROWS, M - i), least(BAND, D - j));
    }
  }
  return 0;
}
