// /// kernelwright
// strategy = "all scores of a block of queries against turned keys, in the workspace; three separate loops over them"
// ///
#include <omp.h>

#include <cmath>
#include <cstdint>

namespace {
constexpr int64_t QUERIES = 16;
}

extern "C" int64_t attention_workspace(int64_t B, int64_t H, int64_t S, int64_t D) {
  return (B * H * D * S + omp_get_max_threads() * QUERIES * S + 16) * static_cast<int64_t>(sizeof(float));
}

extern "C" int attention(const float* q, const float* k, const float* v, float* o, int32_t causal, int64_t B, int64_t H,
                         int64_t S, int64_t D, void* workspace) {
  float* const turned = static_cast<float*>(workspace);  // keys of a head as [D, S]
  float* const all_scores = turned + B * H * D * S;
  const float scale = 1.0f / std::sqrt(static_cast<float>(D));
#pragma omp parallel
  {
    float* const scores = all_scores + omp_get_thread_num() * QUERIES * S;
#pragma omp for collapse(2)
    for (int64_t h = 0; h < B * H; ++h)
      for (int64_t d = 0; d < D; ++d)
        for (int64_t j = 0; j < S; ++j) turned[(h * D + d) * S + j] = k[(h * S + j) * D + d];
#pragma omp for collapse(2) schedule(dynamic, 1)
    for (int64_t h = 0; h < B * H; ++h)
      for (int64_t i0 = 0; i0 < S; i0 += QUERIES) {
        const int64_t count = S - i0 < QUERIES ? S - i0 : QUERIES;
        const int64_t widest = causal ? i0 + count : S;
        for (int64_t i = 0; i < count; ++i) {
          for (int64_t j = 0; j < widest; ++j) scores[i * S + j] = 0.0f;
          for (int64_t d = 0; d < D; ++d) {
            const float factor = q[(h * S + i0 + i) * D + d] * scale;
            for (int64_t j = 0; j < widest; ++j) scores[i * S + j] += factor * turned[(h * D + d) * S + j];
          }
        }
        for (int64_t i = 0; i < count; ++i) {
          const int64_t seen = causal ? i0 + i + 1 : S;
          float top = -INFINITY, sum = 0.0f;
          for (int64_t j = 0; j < seen; ++j) top = scores[i * S + j] > top ? scores[i * S + j] : top;
          for (int64_t j = 0; j < seen; ++j) sum += scores[i * S + j] = std::exp(scores[i * S + j] - top);
          for (int64_t j = 0; j < seen; ++j) scores[i * S + j] /= sum;
        }
        for (int64_t i = 0; i < count; ++i) {
          float* out = o + (h * S + i0 + i) * D;
          const int64_t seen = causal ? i0 + i + 1 : S;
          for (int64_t d = 0; d < D; ++d) out[d] = 0.0f;
          for (int64_t j = 0; j < seen; ++j)
            for (int64_t d = 0; d < D; ++d) out[d] += scores[i * S + j] * v[(h * S + j) * D + d];
        }
      }
  }
  return 0;
}
