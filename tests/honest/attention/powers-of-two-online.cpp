// /// kernelwright
// strategy = "online over single keys, in powers of two: log2(e) is folded into the scale, the maximum moves in steps"
// ///
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <memory>

namespace {

struct Running {
  float top = -FLT_MAX, sum = 0.0f;

  // The factor by which everything so far shrinks when `score` joins.
  float join(float score) {
    if (!(score > top)) return 1.0f;
    const float factor = std::exp2(top - score);
    top = score;
    sum *= factor;
    return factor;
  }
};

}  // namespace

extern "C" int attention(const float* q, const float* k, const float* v, float* o, int32_t causal, int64_t B, int64_t H,
                         int64_t S, int64_t D) {
  const float scale = 1.44269504f / std::sqrt(static_cast<float>(D));
#pragma omp parallel
  {
    const std::unique_ptr<float[]> sums(new float[D + 1]);
#pragma omp for schedule(dynamic, 16)
    for (int64_t row = 0; row < B * H * S; ++row) {
      const int64_t head = row / S * S;
      Running run;
      for (int64_t d = 0; d < D; ++d) sums[d] = 0.0f;
      for (int64_t j = head; j < (causal ? row + 1 : head + S); ++j) {
        float score = 0.0f;
#pragma omp simd reduction(+ : score)
        for (int64_t d = 0; d < D; ++d) score += q[row * D + d] * k[j * D + d];
        score *= scale;
        const float factor = run.join(score);
        if (factor != 1.0f)
          for (int64_t d = 0; d < D; ++d) sums[d] *= factor;
        const float weight = std::exp2(score - run.top);
        run.sum += weight;
        for (int64_t d = 0; d < D; ++d) sums[d] += weight * v[j * D + d];
      }
      for (int64_t d = 0; d < D; ++d) o[row * D + d] = sums[d] / run.sum;
    }
  }
  return 0;
}
