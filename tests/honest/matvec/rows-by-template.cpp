// /// kernelwright
// strategy = "eight rows share each load of the vector; a remainder of rows is served by smaller instances of one template"
// ///
#include <cstdint>

namespace {

typedef float vec __attribute__((vector_size(64)));
typedef float loose __attribute__((vector_size(64), aligned(4), may_alias));
constexpr int LANES = 16;

inline float total(vec v) {
  float sum = 0.0f;
  for (int l = 0; l < LANES / 2; ++l) sum += v[l] + v[l + LANES / 2];
  return sum;
}

template <int ROWS>
void dots(const float* a, const float* x, float* y, int64_t k) {
  vec sums[ROWS] = {};
  int64_t j = 0;
  for (; j + LANES <= k; j += LANES) {
    const vec v = *reinterpret_cast<const loose*>(x + j);
    for (int r = 0; r < ROWS; ++r) sums[r] += *reinterpret_cast<const loose*>(a + r * k + j) * v;
  }
  for (int r = 0; r < ROWS; ++r) {
    float sum = total(sums[r]);
    for (int64_t t = j; t < k; ++t) sum += a[r * k + t] * x[t];
    y[r] = sum;
  }
}

template <int ROWS>
void rest(int64_t rows, const float* a, const float* x, float* y, int64_t k) {
  if (rows >= ROWS) {
    dots<ROWS>(a, x, y, k);
    a += ROWS * k, y += ROWS, rows -= ROWS;
  }
  if constexpr (ROWS > 1) rest<ROWS / 2>(rows, a, x, y, k);
}

}  // namespace

extern "C" int matvec(const float* a, const float* x, float* y, int64_t M, int64_t K) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; i += 8) {
    if (i + 8 <= M) dots<8>(a + i * K, x, y + i, K);
    else rest<4>(M - i, a + i * K, x, y + i, K);
  }
  return 0;
}
