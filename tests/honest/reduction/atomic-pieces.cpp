// /// kernelwright
// strategy = "pieces of rows in any order, each adding its sum to the output atomically: bits may differ, values may not"
// ///
#include <cstdint>

extern "C" int reduction(const float* x, float* y, int64_t M, int64_t N) {
  constexpr int64_t PIECE = 8192;
  const int64_t pieces = (N + PIECE - 1) / PIECE;
#pragma omp parallel
  {
#pragma omp for
    for (int64_t i = 0; i < M; ++i) y[i] = 0.0f;
#pragma omp for collapse(2) schedule(dynamic, 2)
    for (int64_t i = 0; i < M; ++i)
      for (int64_t p = 0; p < pieces; ++p) {
        const int64_t end = (p + 1) * PIECE < N ? (p + 1) * PIECE : N;
        float lanes[16] = {};
        for (int64_t j = p * PIECE; j < end; ++j) lanes[j % 16] += x[i * N + j];
        float sum = 0.0f;
        for (float lane : lanes) sum += lane;
#pragma omp atomic
        y[i] += sum;
      }
  }
  return 0;
}
