// /// kernelwright
// strategy = "chunks are summed in parallel and added in order, so that every run gives the same bits"
// ///
#include <cstdint>

namespace {

float chunk_sum(const float* x, int64_t n) {
  if (n <= 32) {
    float sum = 0.0f;
    for (int64_t j = 0; j < n; ++j) sum += x[j];
    return sum;
  }
  return chunk_sum(x, n / 2) + chunk_sum(x + n / 2, n - n / 2);
}

}  // namespace

extern "C" int reduction(const float* x, float* y, int64_t M, int64_t N) {
  constexpr int64_t CHUNK = 1 << 16;
  for (int64_t i = 0; i < M; ++i) {
    const float* row = x + i * N;
    double sum = 0.0;
    if (N <= CHUNK) {
      y[i] = chunk_sum(row, N);
      continue;
    }
#pragma omp parallel for ordered schedule(dynamic, 1)
    for (int64_t j = 0; j < N; j += CHUNK) {
      const float part = chunk_sum(row + j, N - j < CHUNK ? N - j : CHUNK);
#pragma omp ordered
      sum += part;
    }
    y[i] = static_cast<float>(sum);
  }
  return 0;
}
