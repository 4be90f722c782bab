// /// kernelwright
// strategy = "the vector widened once, rows widened block by block; sums in sixteen floats"
// ///
#include <cstdint>
#include <vector>

extern "C" int half_matvec(const _Float16* a, const _Float16* x, _Float16* y, int64_t M, int64_t K) {
  std::vector<float> wide(x, x + K);
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    const _Float16* row = a + i * K;
    float lanes[16] = {}, sum = 0.0f;
    int64_t k = 0;
    for (; k + 16 <= K; k += 16)
      for (int l = 0; l < 16; ++l) lanes[l] += static_cast<float>(row[k + l]) * wide[k + l];
    for (; k < K; ++k) sum += static_cast<float>(row[k]) * wide[k];
    for (float lane : lanes) sum += lane;
    y[i] = static_cast<_Float16>(sum);
  }
  return 0;
}
