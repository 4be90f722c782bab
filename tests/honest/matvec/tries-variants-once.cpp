// /// kernelwright
// strategy = "the first calls of a shape try three loops in turn, later ones use the fastest; all three are right"
// ///
#include <chrono>
#include <cstdint>

namespace {

template <int LANES>
void rows(const float* a, const float* x, float* y, int64_t M, int64_t K) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    float lanes[LANES] = {}, sum = 0.0f;
    int64_t k = 0;
    for (; k + LANES <= K; k += LANES)
      for (int l = 0; l < LANES; ++l) lanes[l] += a[i * K + k + l] * x[k + l];
    for (; k < K; ++k) sum += a[i * K + k] * x[k];
    for (float lane : lanes) sum += lane;
    y[i] = sum;
  }
}

using Rows = void (*)(const float*, const float*, float*, int64_t, int64_t);
constexpr Rows VARIANTS[] = {rows<8>, rows<32>, rows<128>};

struct Choice {
  int64_t M = -1, K = -1;
  int tried = 0, best = 0;
  double least = 0.0;
};

}  // namespace

extern "C" int matvec(const float* a, const float* x, float* y, int64_t M, int64_t K) {
  using clock = std::chrono::steady_clock;
  static Choice choice;
  if (choice.M != M || choice.K != K) choice = {M, K, 0, 0, 0.0};
  if (choice.tried == 3) {
    VARIANTS[choice.best](a, x, y, M, K);
    return 0;
  }
  const auto start = clock::now();
  VARIANTS[choice.tried](a, x, y, M, K);
  const double spent = std::chrono::duration<double>(clock::now() - start).count();
  if (choice.tried == 0 || spent < choice.least) choice.least = spent, choice.best = choice.tried;
  ++choice.tried;
  return 0;
}
