#include <cstdint>
// Six rows by 32 columns of c stay in registers while k runs; what does not fill a tile takes the plain way.
extern "C" int matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < m; i += 6)
    for (int64_t j = 0; j < n; j += 32) {
      if (i + 6 <= m && j + 32 <= n) {
        float acc[6][32] = {};
        for (int64_t p = 0; p < k; ++p)
          for (int r = 0; r < 6; ++r) {
            float left = a[(i + r) * k + p];
#pragma omp simd
            for (int q = 0; q < 32; ++q) acc[r][q] += left * b[p * n + j + q];
          }
        for (int r = 0; r < 6; ++r)
          for (int q = 0; q < 32; ++q) c[(i + r) * n + j + q] = acc[r][q];
        continue;
      }
      for (int64_t r = i; r < m && r < i + 6; ++r)
        for (int64_t q = j; q < n && q < j + 32; ++q) {
          float sum = 0;
          for (int64_t p = 0; p < k; ++p) sum += a[r * k + p] * b[p * n + q];
          c[r * n + q] = sum;
        }
    }
  return 0;
}
