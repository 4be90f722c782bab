// /// kernelwright
// strategy = "one pass: eight lanes each keep a running maximum and sum, merged at the end of the row"
// ///
#include <cfloat>
#include <cmath>
#include <cstdint>

namespace {

constexpr int LANES = 8;

struct Running {
  float top = -FLT_MAX, sum = 0.0f;

  void add(float x) {
    if (x > top) {
      sum *= std::exp(top - x);
      top = x;
    }
    sum += std::exp(x - top);
  }
  void merge(const Running& other) {
    const float higher = other.top > top ? other.top : top;
    sum = sum * std::exp(top - higher) + other.sum * std::exp(other.top - higher);
    top = higher;
  }
};

}  // namespace

extern "C" int cross_entropy(const float* logits, const int64_t* labels, float* loss, int64_t N, int64_t V) {
#pragma omp parallel for
  for (int64_t i = 0; i < N; ++i) {
    const float* row = logits + i * V;
    Running lanes[LANES];
    for (int64_t j = 0; j < V; ++j) lanes[j % LANES].add(row[j]);
    for (int l = 1; l < LANES; ++l) lanes[0].merge(lanes[l]);
    loss[i] = std::log(lanes[0].sum) - (row[labels[i]] - lanes[0].top);
  }
  return 0;
}
