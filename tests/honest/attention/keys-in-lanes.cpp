// /// kernelwright
// strategy = "sixteen keys at a time lie across the lanes of a vector; the online maximum is one a vector, not one a key"
// ///
#include <cfloat>
#include <cmath>
#include <cstdint>

namespace {

typedef float vec __attribute__((vector_size(64)));
constexpr int64_t LANES = 16, WIDEST = 256;

inline float largest(vec v) {
  float top = v[0];
  for (int l = 1; l < LANES; ++l) top = v[l] > top ? v[l] : top;
  return top;
}

void row(const float* q, const float* k, const float* v, float* o, int64_t seen, int64_t D, float scale) {
  float sums[WIDEST] = {}, top = -FLT_MAX, total = 0.0f;
  for (int64_t j0 = 0; j0 < seen; j0 += LANES) {
    const int64_t count = seen - j0 < LANES ? seen - j0 : LANES;
    vec scores = {};
    for (int64_t l = 0; l < count; ++l) {
      float score = 0.0f;
#pragma omp simd reduction(+ : score)
      for (int64_t d = 0; d < D; ++d) score += q[d] * k[(j0 + l) * D + d];
      scores[l] = score * scale;
    }
    for (int64_t l = count; l < LANES; ++l) scores[l] = -INFINITY;  // weight nought
    const float before = top, here = largest(scores);
    top = here > top ? here : top;
    const float factor = std::exp(before - top);
    total *= factor;
    for (int64_t d = 0; d < D; ++d) sums[d] *= factor;
    for (int64_t l = 0; l < count; ++l) {
      const float weight = std::exp(scores[l] - top);
      total += weight;
      for (int64_t d = 0; d < D; ++d) sums[d] += weight * v[(j0 + l) * D + d];
    }
  }
  for (int64_t d = 0; d < D; ++d) o[d] = sums[d] / total;
}

}  // namespace

extern "C" int attention(const float* q, const float* k, const float* v, float* o, int32_t causal, int64_t B, int64_t H,
                         int64_t S, int64_t D) {
  if (D > WIDEST) return 22;
  const float scale = 1.0f / std::sqrt(static_cast<float>(D));
#pragma omp parallel for schedule(guided)
  for (int64_t at = 0; at < B * H * S; ++at) {
    const int64_t head = at / S * S;
    row(q + at * D, k + head * D, v + head * D, o + at * D, causal ? at - head + 1 : S, D, scale);
  }
  return 0;
}
