// One query row at a time: scores, softmax, weighted sum of values.
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" int attention(const float* q, const float* k, const float* v, float* o, int32_t causal, int64_t B, int64_t H,
                         int64_t S, int64_t D) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(D));
#pragma omp parallel for
  for (int64_t row = 0; row < B * H * S; ++row) {
    const int64_t first = row / S * S;  // row of this head's first key
    const int64_t visible = causal ? row - first + 1 : S;
    std::vector<float> weights(visible);
    float largest = -INFINITY;
    for (int64_t j = 0; j < visible; ++j) {
      float score = 0.0f;
      for (int64_t d = 0; d < D; ++d) score += q[row * D + d] * k[(first + j) * D + d];
      weights[j] = score * scale;
      if (weights[j] > largest || std::isnan(weights[j])) largest = weights[j];
    }
    float sum = 0.0f;
    for (int64_t j = 0; j < visible; ++j) {
      weights[j] = std::exp(weights[j] - largest);
      sum += weights[j];
    }
    for (int64_t d = 0; d < D; ++d) o[row * D + d] = 0.0f;
    for (int64_t j = 0; j < visible; ++j)
      for (int64_t d = 0; d < D; ++d) o[row * D + d] += weights[j] / sum * v[(first + j) * D + d];
  }
  return 0;
}
