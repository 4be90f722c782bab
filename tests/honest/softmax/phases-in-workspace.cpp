// /// kernelwright
// strategy = "three parallel phases over row pieces; what the pieces found waits in the workspace of the contract"
// tune.PIECE = [1024, 512, 4096]
// ///
#include <cmath>
#include <cstdint>

namespace {

struct Found {
  float top, sum;
};

inline int64_t pieces(int64_t n) { return (n + PIECE - 1) / PIECE; }

}  // namespace

extern "C" int64_t softmax_workspace(int64_t M, int64_t N) {
  return M * (pieces(N) + 1) * static_cast<int64_t>(sizeof(Found));
}

extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N, void* workspace) {
  Found* const found = static_cast<Found*>(workspace);
  Found* const rows = found + M * pieces(N);
  const int64_t count = pieces(N);
#pragma omp parallel
  {
#pragma omp for collapse(2)
    for (int64_t i = 0; i < M; ++i)
      for (int64_t p = 0; p < count; ++p) {
        const int64_t end = (p + 1) * PIECE < N ? (p + 1) * PIECE : N;
        float top = -INFINITY;
#pragma omp simd reduction(max : top)
        for (int64_t j = p * PIECE; j < end; ++j) top = x[i * N + j] > top ? x[i * N + j] : top;
        found[i * count + p].top = top;
      }
#pragma omp for collapse(2)
    for (int64_t i = 0; i < M; ++i)
      for (int64_t p = 0; p < count; ++p) {
        float top = -INFINITY, sum = 0.0f;
        for (int64_t q = 0; q < count; ++q) top = found[i * count + q].top > top ? found[i * count + q].top : top;
        const int64_t end = (p + 1) * PIECE < N ? (p + 1) * PIECE : N;
        for (int64_t j = p * PIECE; j < end; ++j) sum += y[i * N + j] = std::exp(x[i * N + j] - top);
        found[i * count + p].sum = sum;
      }
#pragma omp for
    for (int64_t i = 0; i < M; ++i) {
      rows[i].sum = 0.0f;
      for (int64_t p = 0; p < count; ++p) rows[i].sum += found[i * count + p].sum;
    }
#pragma omp for collapse(2)
    for (int64_t i = 0; i < M; ++i)
      for (int64_t j = 0; j < N; ++j) y[i * N + j] /= rows[i].sum;
  }
  return 0;
}
