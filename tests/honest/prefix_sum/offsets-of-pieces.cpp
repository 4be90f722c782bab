// /// kernelwright
// strategy = "sums of pieces, a serial scan of those, then every piece with its offset; pieces lie in the workspace"
// ///
#include <cstdint>

namespace {
constexpr int64_t PIECE = 4096;
inline int64_t pieces(int64_t n) { return (n + PIECE - 1) / PIECE; }
}  // namespace

extern "C" int64_t prefix_sum_workspace(int64_t M, int64_t N) { return (M * pieces(N) + 1) * 8; }

extern "C" int prefix_sum(const int32_t* x, int64_t* y, int64_t M, int64_t N, void* workspace) {
  auto* offset = static_cast<int64_t*>(workspace);
  const int64_t count = pieces(N);
#pragma omp parallel
  {
#pragma omp for collapse(2)
    for (int64_t i = 0; i < M; ++i)
      for (int64_t p = 0; p < count; ++p) {
        int64_t sum = 0;
        for (int64_t j = p * PIECE; j < N && j < (p + 1) * PIECE; ++j) sum += x[i * N + j];
        offset[i * count + p] = sum;
      }
#pragma omp for
    for (int64_t i = 0; i < M; ++i) {
      int64_t before = 0;
      for (int64_t p = 0; p < count; ++p) {
        const int64_t here = offset[i * count + p];
        offset[i * count + p] = before;
        before += here;
      }
    }
#pragma omp for collapse(2)
    for (int64_t i = 0; i < M; ++i)
      for (int64_t p = 0; p < count; ++p) {
        int64_t sum = offset[i * count + p];
        for (int64_t j = p * PIECE; j < N && j < (p + 1) * PIECE; ++j) y[i * N + j] = sum += x[i * N + j];
      }
  }
  return 0;
}
