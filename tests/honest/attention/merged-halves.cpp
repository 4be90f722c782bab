// /// kernelwright
// strategy = "keys are halved recursively; each half gives maximum, sum and weighted values, which are merged by rescaling"
// ///
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

constexpr int64_t LEAF = 16;

struct Head {
  const float *k, *v;
  int64_t D;
  float scale;
};

struct Half {
  float top, sum;
};

// Weighted values go to out [D]; scratch has room for one more of those a level.
Half look(const Head& head, const float* q, int64_t from, int64_t count, float* out, float* scratch) {
  const int64_t D = head.D;
  if (count <= LEAF) {
    float weights[LEAF];
    Half half = {-FLT_MAX, 0.0f};
    for (int64_t j = 0; j < count; ++j) {
      float score = 0.0f;
#pragma omp simd reduction(+ : score)
      for (int64_t d = 0; d < D; ++d) score += q[d] * head.k[(from + j) * D + d];
      weights[j] = score * head.scale;
      if (weights[j] > half.top) half.top = weights[j];
    }
    for (int64_t d = 0; d < D; ++d) out[d] = 0.0f;
    for (int64_t j = 0; j < count; ++j) {
      const float weight = std::exp(weights[j] - half.top);
      half.sum += weight;
      for (int64_t d = 0; d < D; ++d) out[d] += weight * head.v[(from + j) * D + d];
    }
    return half;
  }
  const Half a = look(head, q, from, count / 2, out, scratch + D);
  const Half b = look(head, q, from + count / 2, count - count / 2, scratch, scratch + D);
  const float top = a.top > b.top ? a.top : b.top;
  const float fa = std::exp(a.top - top), fb = std::exp(b.top - top);
  for (int64_t d = 0; d < D; ++d) out[d] = fa * out[d] + fb * scratch[d];
  return {top, fa * a.sum + fb * b.sum};
}

}  // namespace

extern "C" int attention(const float* q, const float* k, const float* v, float* o, int32_t causal, int64_t B, int64_t H,
                         int64_t S, int64_t D) {
  int64_t levels = 2;
  for (int64_t n = S; n > LEAF; n -= n / 2) ++levels;
#pragma omp parallel
  {
    std::vector<float> scratch(levels * D + 1);
#pragma omp for schedule(dynamic, 4)
    for (int64_t row = 0; row < B * H * S; ++row) {
      const int64_t first = row / S * S, seen = causal ? row - first + 1 : S;
      const Head head = {k + first * D, v + first * D, D, 1.0f / std::sqrt(static_cast<float>(D))};
      const Half all = look(head, q + row * D, 0, seen, o + row * D, scratch.data());
      for (int64_t d = 0; d < D; ++d) o[row * D + d] /= all.sum;
    }
  }
  return 0;
}
