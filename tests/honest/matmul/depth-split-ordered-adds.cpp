// /// kernelwright
// strategy = "threads take stretches of the depth into results of their own, which are added in a fixed order"
// ///
#include <omp.h>

#include <cstdint>
#include <cstdio>
#include <vector>

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  static bool told = false;
  std::vector<std::vector<float>> parts;
  int hands = 1;
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
#pragma omp single
    {
      hands = omp_get_num_threads();
      parts.resize(hands);
      if (!told) std::fprintf(stderr, "matmul: the depth is split among %d threads\n", hands);
      told = true;
    }
    std::vector<float>& mine = parts[me];
    mine.assign(M * N, 0.0f);
    for (int64_t k = K * me / hands; k < K * (me + 1) / hands; ++k)
      for (int64_t i = 0; i < M; ++i) {
        const float factor = a[i * K + k];
        for (int64_t j = 0; j < N; ++j) mine[i * N + j] += factor * b[k * N + j];
      }
#pragma omp barrier
#pragma omp for
    for (int64_t at = 0; at < M * N; ++at) {
      float sum = 0.0f;
      for (int h = 0; h < hands; ++h) sum += parts[h][at];
      c[at] = sum;
    }
  }
  return 0;
}
