// /// kernelwright
// strategy = "maxima and sums of blocks of 512 logits first, then a softmax of the blocks; the row is read once"
// ///
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

constexpr int64_t BLOCK = 512;

float block_sum(const float* x, int64_t n, float* top) {
  float largest = -FLT_MAX, lanes[8] = {};
  for (int64_t j = 0; j < n; ++j) largest = x[j] > largest ? x[j] : largest;
  for (int64_t j = 0; j < n; ++j) lanes[j & 7] += std::exp(x[j] - largest);
  *top = largest;
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

}  // namespace

extern "C" int cross_entropy(const float* logits, const int64_t* labels, float* loss, int64_t N, int64_t V) {
  const int64_t blocks = (V + BLOCK - 1) / BLOCK;
  std::vector<float> tops(N * blocks), sums(N * blocks);
#pragma omp parallel
  {
#pragma omp for collapse(2) schedule(static)
    for (int64_t i = 0; i < N; ++i)
      for (int64_t b = 0; b < blocks; ++b) {
        const int64_t n = V - b * BLOCK < BLOCK ? V - b * BLOCK : BLOCK;
        sums[i * blocks + b] = block_sum(logits + i * V + b * BLOCK, n, &tops[i * blocks + b]);
      }
#pragma omp for
    for (int64_t i = 0; i < N; ++i) {
      float top = -FLT_MAX, sum = 0.0f;
      for (int64_t b = 0; b < blocks; ++b) top = tops[i * blocks + b] > top ? tops[i * blocks + b] : top;
      for (int64_t b = 0; b < blocks; ++b) sum += sums[i * blocks + b] * std::exp(tops[i * blocks + b] - top);
      loss[i] = std::log(sum) + (top - logits[i * V + labels[i]]);
    }
  }
  return 0;
}
