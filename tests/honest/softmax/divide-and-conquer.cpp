// /// kernelwright
// strategy = "maximum and sum of exponentials by recursive halving; two halves are merged by rescaling the lower one"
// ///
#include <cfloat>
#include <cmath>
#include <cstdint>

namespace {

struct Part {
  float top;
  float sum;  // of exp(x - top)
};

Part leaf(const float* x, int64_t n) {
  // A finite start, so that an infinite element cannot meet its like in a difference.
  Part part = {-FLT_MAX, 0.0f};
  for (int64_t j = 0; j < n; ++j)
    if (x[j] > part.top) part.top = x[j];
  for (int64_t j = 0; j < n; ++j) part.sum += std::exp(x[j] - part.top);
  return part;
}

Part merge(Part a, Part b) {
  if (a.top < b.top) return merge(b, a);
  return {a.top, a.sum + b.sum * std::exp(b.top - a.top)};
}

Part survey(const float* x, int64_t n) {
  if (n <= 48) return leaf(x, n);
  const int64_t half = n / 2;
  return merge(survey(x, half), survey(x + half, n - half));
}

}  // namespace

extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N) {
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t i = 0; i < M; ++i) {
    const Part whole = survey(x + i * N, N);
    const float scale = 1.0f / whole.sum;
    for (int64_t j = 0; j < N; ++j) y[i * N + j] = std::exp(x[i * N + j] - whole.top) * scale;
  }
  return 0;
}
