// /// kernelwright
// strategy = "a row as a little machine of labels and jumps, its steps unrolled by macros"
// ///
#include <cmath>
#include <cstdint>

#define FOUR(step) step(0) step(1) step(2) step(3)

extern "C" int layernorm(const float* x, const float* weight, const float* bias, float* y, float eps, int64_t M,
                         int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    const float* p = x + i * N;
    float* out = y + i * N;
    float a[4] = {0, 0, 0, 0}, mean, scale;
    int64_t j = 0;

  sum_four:
    if (j + 4 > N) goto sum_one;
#define STEP(l) a[l] += p[j + l];
    FOUR(STEP)
#undef STEP
    j += 4;
    goto sum_four;
  sum_one:
    if (j == N) goto centre;
    a[0] += p[j++];
    goto sum_one;

  centre:
    mean = ((a[0] + a[1]) + (a[2] + a[3])) / static_cast<float>(N);
    a[0] = a[1] = a[2] = a[3] = 0;
    j = 0;
  square_four:
    if (j + 4 > N) goto square_one;
#define STEP(l) a[l] += (p[j + l] - mean) * (p[j + l] - mean);
    FOUR(STEP)
#undef STEP
    j += 4;
    goto square_four;
  square_one:
    if (j == N) goto scale_it;
    a[0] += (p[j] - mean) * (p[j] - mean);
    ++j;
    goto square_one;

  scale_it:
    scale = 1.0f / std::sqrt(((a[0] + a[1]) + (a[2] + a[3])) / static_cast<float>(N) + eps);
    for (j = 0; j < N; ++j) out[j] = (p[j] - mean) * scale * weight[j] + bias[j];
  }
  return 0;
}
