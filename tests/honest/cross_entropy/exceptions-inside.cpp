// /// kernelwright
// strategy = "a checked label throws std::out_of_range, which the entry turns into an error code; sums in double"
// ///
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <stdexcept>

namespace {

double at(const float* row, int64_t label, int64_t V) {
  if (label < 0 || label >= V) throw std::out_of_range("label");
  return row[label];
}

float loss_of(const float* row, int64_t label, int64_t V) {
  const double mine = at(row, label, V);
  const double top = *std::max_element(row, row + V);
  double sum = 0.0;
  for (int64_t j = 0; j < V; ++j) sum += std::exp(static_cast<double>(row[j]) - top);
  return static_cast<float>(std::log(sum) - (mine - top));
}

}  // namespace

extern "C" int cross_entropy(const float* logits, const int64_t* labels, float* loss, int64_t N, int64_t V) {
  std::exception_ptr first;
#pragma omp parallel for
  for (int64_t i = 0; i < N; ++i) {
    try {
      loss[i] = loss_of(logits + i * V, labels[i], V);
    } catch (...) {
#pragma omp critical
      if (!first) first = std::current_exception();
    }
  }
  try {
    if (first) std::rethrow_exception(first);
  } catch (const std::out_of_range&) {
    return 34;
  }
  return 0;
}
