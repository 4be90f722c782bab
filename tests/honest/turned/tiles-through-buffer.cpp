// /// kernelwright
// strategy = "32 x 32 tiles through a small buffer, read along rows and written along rows whatever the strides"
// ///
#include <cstdint>

extern "C" int turned(const float* a, const int64_t* a_strides, const float* scale, float* y, const int64_t* y_strides,
                      int64_t M, int64_t N) {
  constexpr int64_t TILE = 32;
  const int64_t down = a_strides[0], along = a_strides[1], out_down = y_strides[0], out_along = y_strides[1];
#pragma omp parallel for collapse(2)
  for (int64_t i0 = 0; i0 < M; i0 += TILE)
    for (int64_t j0 = 0; j0 < N; j0 += TILE) {
      float tile[TILE][TILE + 1];
      const int64_t rows = M - i0 < TILE ? M - i0 : TILE, columns = N - j0 < TILE ? N - j0 : TILE;
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) tile[j][i] = a[(i0 + i) * down + (j0 + j) * along];
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t i = 0; i < rows; ++i) y[(j0 + j) * out_down + (i0 + i) * out_along] = tile[j][i] * scale[j0 + j];
    }
  return 0;
}
