// /// kernelwright
// strategy = "hidden-blocks: a block of hidden values goes straight into the outputs it feeds, hidden values are never stored, parts of F run side by side"
// tune.PARTS = [2, 4, 8]
// tune.MR = [8, 4, 6, 12]
// tune.NV = [1, 2]
// tune.DV = [2, 3, 4]
// where = ["MR * NV <= 12", "MR * DV <= 24"]
// cures = ["memory bandwidth", "compute"]
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

typedef float Quad __attribute__((vector_size(16)));

inline Quad quad(const float* p) {
  Quad v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

// to[k * pitch + n] = from[n * stride + k], four by four; rows past `rows` become zeros up to `width`.
inline void transpose(const float* from, int64_t stride, int64_t rows, int64_t depth, float* to,
                      int64_t pitch, int64_t width) {
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
  for (; n < width; ++n, from += stride) {
    for (int64_t k = 0; k < depth; ++k) to[k * pitch + n] = n < rows ? from[k] : 0.0f;
  }
}

constexpr int64_t NR = NV * LANES;
constexpr int64_t DR = DV * LANES;

// Hidden values of MR rows: both products in registers, panel[k] = NR gates, then NR ups. Row i reads row
// min(i, rows - 1) of x, so that every tile is whole.
inline void hidden_tile(const float* x, int64_t D, int64_t rows, const float* panel, float* hidden) {
  Vec gate[MR][NV] = {}, up[MR][NV] = {};
  const float* row[MR];
  for (int i = 0; i < MR; ++i) row[i] = x + least(i, rows - 1) * D;
  for (int64_t k = 0; k < D; ++k, panel += 2 * NR) {
    Vec w[2 * NV];
#pragma GCC unroll 8
    for (int v = 0; v < 2 * NV; ++v) w[v] = load(panel + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const float in = row[i][k];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) {
        gate[i][v] += in * w[v];
        up[i][v] += in * w[NV + v];
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) store(hidden + i * NR + v * LANES, gated(gate[i][v], up[i][v]));
  }
}

// y[i][0:DR] += sum over the block of hidden[i][k] * down[k][0:DR]; both y and down have rows of `width` floats.
inline void add_outputs(const float* hidden, int64_t depth, const float* down, float* y, int64_t width) {
  Vec acc[MR][DV];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < DV; ++v) acc[i][v] = load(y + i * width + v * LANES);
  }
  for (int64_t k = 0; k < depth; ++k, down += width) {
    Vec w[DV];
#pragma GCC unroll 8
    for (int v = 0; v < DV; ++v) w[v] = load(down + v * LANES);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const float in = hidden[i * NR + k];
#pragma GCC unroll 8
      for (int v = 0; v < DV; ++v) acc[i][v] += in * w[v];
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
#pragma GCC unroll 8
    for (int v = 0; v < DV; ++v) store(y + i * width + v * LANES, acc[i][v]);
  }
}

// floats that one part owns: outputs of all rows in whole tiles, then the packed weights of one block
inline int64_t part_floats(int64_t M, int64_t D) {
  return tiles(M, MR) * MR * tiles(D, DR) * DR + NR * (2 * D + tiles(D, DR) * DR);
}

}  // namespace

extern "C" int64_t swiglu_workspace(int64_t M, int64_t D, int64_t) { return PARTS * part_floats(M, D) * 4 + 64; }

extern "C" int swiglu(const float* x, const float* gate, const float* up, const float* down, float* y, int64_t M,
                      int64_t D, int64_t F, void* workspace) {
  float* base = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(workspace) + 63) / 64 * 64);
  const int64_t width = tiles(D, DR) * DR, outputs = tiles(M, MR) * MR * width, panels = tiles(F, NR);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int64_t part = 0; part < PARTS; ++part) {
      float* partial = base + part * part_floats(M, D);
      float* panel = partial + outputs;
      float* turned = panel + NR * 2 * D;
      alignas(64) float hidden[MR * NR];
      for (int64_t t = 0; t < outputs; ++t) partial[t] = 0.0f;
      for (int64_t t = panels * part / PARTS; t < panels * (part + 1) / PARTS; ++t) {
        const int64_t j = t * NR, count = least(NR, F - j);
        transpose(gate + j * D, D, count, D, panel, 2 * NR, NR);
        transpose(up + j * D, D, count, D, panel + NR, 2 * NR, NR);
        transpose(down + j, F, D, count, turned, width, width);
        for (int64_t i = 0; i < M; i += MR) {
          hidden_tile(x + i * D, D, M - i, panel, hidden);
          for (int64_t d = 0; d < width; d += DR) {
            add_outputs(hidden, count, turned + d, partial + i * width + d, width);
          }
        }
      }
    }
#pragma omp for schedule(static)
    for (int64_t i = 0; i < M; ++i) {
      for (int64_t d = 0; d < D; ++d) {
        float sum = base[i * width + d];
        for (int64_t part = 1; part < PARTS; ++part) sum += base[part * part_floats(M, D) + i * width + d];
        y[i * D + d] = sum;
      }
    }
  }
  return 0;
}
