// /// kernelwright
// strategy = "tiles of the matrix are turned into aligned scratch, so that a column times one number adds to many rows"
// ///
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {
constexpr int64_t TILE = 64;
}

extern "C" int matvec(const float* a, const float* x, float* y, int64_t M, int64_t K) {
  int failed = 0;
#pragma omp parallel reduction(max : failed)
  {
    float* const turned = static_cast<float*>(std::aligned_alloc(64, TILE * TILE * sizeof(float)));
    if (!turned) failed = 12;
#pragma omp for schedule(static)
    for (int64_t i0 = 0; i0 < M; i0 += TILE) {
      if (!turned) continue;
      const int64_t rows = M - i0 < TILE ? M - i0 : TILE;
      alignas(64) float sums[TILE] = {};
      for (int64_t k0 = 0; k0 < K; k0 += TILE) {
        const int64_t depth = K - k0 < TILE ? K - k0 : TILE;
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t k = 0; k < depth; ++k) turned[k * TILE + i] = a[(i0 + i) * K + k0 + k];
        for (int64_t k = 0; k < depth; ++k) {
          const float factor = x[k0 + k];
          const float* column = turned + k * TILE;
          for (int64_t i = 0; i < rows; ++i) sums[i] += column[i] * factor;
        }
      }
      std::memcpy(y + i0, sums, rows * sizeof(float));
    }
    std::free(turned);
  }
  return failed;
}
