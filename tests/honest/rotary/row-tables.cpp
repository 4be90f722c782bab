// /// kernelwright
// strategy = "positions of rows from a table that is kept while the shape stays; rows go round the threads in strides"
// ///
#include <omp.h>

#include <cstdint>
#include <memory>

namespace {

struct Table {
  int64_t rows = -1, positions = -1;
  std::unique_ptr<int32_t[]> position;

  void fit(int64_t wanted_rows, int64_t wanted_positions) {
    if (rows == wanted_rows && positions == wanted_positions) return;
    position.reset(new int32_t[wanted_rows + 1]);
    for (int64_t row = 0; row < wanted_rows; ++row) position[row] = static_cast<int32_t>(row % wanted_positions);
    rows = wanted_rows, positions = wanted_positions;
  }
};

}  // namespace

extern "C" int rotary(const float* x, const float* cos, const float* sin, float* y, int64_t B, int64_t H, int64_t S,
                      int64_t D) {
  static Table table;
  const int64_t rows = B * H * S, half = D / 2;
  if (rows == 0) return 0;
  table.fit(rows, S);
#pragma omp parallel
  for (int64_t row = omp_get_thread_num(); row < rows; row += omp_get_num_threads()) {
    const int64_t angle = table.position[row] * half;
    const float *first = x + row * D, *second = first + half;
    float *left = y + row * D, *right = left + half;
    for (int64_t d = 0; d < half; ++d) left[d] = first[d] * cos[angle + d] - second[d] * sin[angle + d];
    for (int64_t d = 0; d < half; ++d) right[d] = second[d] * cos[angle + d] + first[d] * sin[angle + d];
  }
  return 0;
}
