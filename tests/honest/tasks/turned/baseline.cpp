// Two plain loops, writing in order.
#include <cstdint>

extern "C" int turned(const float* a, const int64_t* a_strides, const float* scale, float* y, const int64_t* y_strides,
                      int64_t M, int64_t N) {
#pragma omp parallel for
  for (int64_t j = 0; j < N; ++j)
    for (int64_t i = 0; i < M; ++i)
      y[j * y_strides[0] + i * y_strides[1]] = a[i * a_strides[0] + j * a_strides[1]] * scale[j];
  return 0;
}
