// /// kernelwright
// strategy = "the vocabulary is split between std::async calls, each of which returns its share of every row"
// ///
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <future>
#include <vector>

namespace {

struct Share {
  float top;
  double sum;
};

std::vector<Share> shares(const float* logits, int64_t N, int64_t V, int64_t from, int64_t until) {
  std::vector<Share> found;
  found.reserve(N);
  for (int64_t i = 0; i < N; ++i) {
    float top = -FLT_MAX;
    double sum = 0.0;
    for (int64_t j = from; j < until; ++j) top = std::max(top, logits[i * V + j]);
    for (int64_t j = from; j < until; ++j) sum += std::exp(logits[i * V + j] - top);
    found.push_back({top, sum});
  }
  return found;
}

}  // namespace

extern "C" int cross_entropy(const float* logits, const int64_t* labels, float* loss, int64_t N, int64_t V) {
  auto other = std::async(std::launch::async, shares, logits, N, V, V / 2, V);
  const std::vector<Share> left = shares(logits, N, V, 0, V / 2), right = other.get();
  for (int64_t i = 0; i < N; ++i) {
    const float top = std::max(left[i].top, right[i].top);
    const double sum = left[i].sum * std::exp(static_cast<double>(left[i].top) - top) +
                       right[i].sum * std::exp(static_cast<double>(right[i].top) - top);
    loss[i] = static_cast<float>(std::log(sum) - (static_cast<double>(logits[i * V + labels[i]]) - top));
  }
  return 0;
}
