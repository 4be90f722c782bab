// /// kernelwright
// strategy = "b is turned once into aligned memory; then every element is a dot product, sixteen of them at a time"
// ///
#include <cstdint>
#include <cstdlib>

namespace {

template <int ROWS, int COLUMNS>
inline void dots(const float* a, const float* bt, float* c, int64_t N, int64_t K) {
  float lanes[ROWS][COLUMNS][8] = {};
  int64_t k = 0;
  for (; k + 8 <= K; k += 8)
    for (int i = 0; i < ROWS; ++i)
      for (int j = 0; j < COLUMNS; ++j)
        for (int l = 0; l < 8; ++l) lanes[i][j][l] += a[i * K + k + l] * bt[j * K + k + l];
  for (int i = 0; i < ROWS; ++i)
    for (int j = 0; j < COLUMNS; ++j) {
      float sum = 0.0f;
      for (float lane : lanes[i][j]) sum += lane;
      for (int64_t t = k; t < K; ++t) sum += a[i * K + t] * bt[j * K + t];
      c[i * N + j] = sum;
    }
}

}  // namespace

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  const size_t bytes = (static_cast<size_t>(N * K) * sizeof(float) + 127) / 64 * 64;
  float* const bt = static_cast<float*>(aligned_alloc(64, bytes));
  if (!bt) return 12;
#pragma omp parallel
  {
#pragma omp for
    for (int64_t j0 = 0; j0 < N; j0 += 16)
      for (int64_t k = 0; k < K; ++k)
        for (int64_t j = j0; j < N && j < j0 + 16; ++j) bt[j * K + k] = b[k * N + j];
#pragma omp for
    for (int64_t i = 0; i < M; i += 4) {
      const bool whole = i + 4 <= M;
      int64_t j = 0;
      for (; whole && j + 4 <= N; j += 4) dots<4, 4>(a + i * K, bt + j * K, c + i * N + j, N, K);
      for (; whole && j < N; ++j) dots<4, 1>(a + i * K, bt + j * K, c + i * N + j, N, K);
      for (int64_t r = i; !whole && r < M; ++r)
        for (j = 0; j < N; ++j) dots<1, 1>(a + r * K, bt + j * K, c + r * N + j, N, K);
    }
  }
  std::free(bt);
  return 0;
}
