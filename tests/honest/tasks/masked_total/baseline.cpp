#include <cmath>
#include <cstdint>

extern "C" int masked_total(const float* x, const int32_t* lengths, float* y, int64_t M, int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    float sum = 0.0f;
    for (int64_t j = 0; j < N && j < lengths[i]; ++j) sum += std::fabs(x[i * N + j]);
    y[i] = sum;
  }
  return 0;
}
