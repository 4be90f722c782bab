// A plain dot product for each row, summed in float.
#include <cstdint>

extern "C" int half_matvec(const _Float16* a, const _Float16* x, _Float16* y, int64_t M, int64_t K) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    float sum = 0.0f;
    for (int64_t k = 0; k < K; ++k) sum += static_cast<float>(a[i * K + k]) * static_cast<float>(x[k]);
    y[i] = static_cast<_Float16>(sum);
  }
  return 0;
}
