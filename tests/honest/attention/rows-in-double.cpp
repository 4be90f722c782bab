// /// kernelwright
// strategy = "one query at a time, everything in double, library exponentials, scores in a vector of the thread"
// ///
#include <cmath>
#include <cstdint>
#include <vector>

extern "C" int attention(const float* q, const float* k, const float* v, float* o, int32_t causal, int64_t B, int64_t H,
                         int64_t S, int64_t D) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(D));
#pragma omp parallel
  {
    std::vector<double> weights(S), sums(D);
#pragma omp for schedule(dynamic, 8)
    for (int64_t row = 0; row < B * H * S; ++row) {
      const int64_t head = row / S * S, seen = causal ? row - head + 1 : S;
      double top = -INFINITY, total = 0.0;
      for (int64_t j = 0; j < seen; ++j) {
        double score = 0.0;
        for (int64_t d = 0; d < D; ++d) score += static_cast<double>(q[row * D + d]) * k[(head + j) * D + d];
        weights[j] = score * scale;
        if (weights[j] > top) top = weights[j];
      }
      for (int64_t j = 0; j < seen; ++j) total += weights[j] = std::exp(weights[j] - top);
      sums.assign(D, 0.0);
      for (int64_t j = 0; j < seen; ++j)
        for (int64_t d = 0; d < D; ++d) sums[d] += weights[j] * v[(head + j) * D + d];
      for (int64_t d = 0; d < D; ++d) o[row * D + d] = static_cast<float>(sums[d] / total);
    }
  }
  return 0;
}
