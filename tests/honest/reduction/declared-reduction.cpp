// /// kernelwright
// strategy = "a reduction declared to OpenMP: pairs of a sum and what rounding took from it"
// ///
#include <cmath>
#include <cstdint>

namespace {

struct Exact {
  double sum = 0.0, lost = 0.0;

  void add(double v) {
    const double next = sum + v, back = next - sum;
    lost += (sum - (next - back)) + (v - back);
    sum = next;
  }
  void join(const Exact& other) {
    add(other.sum);
    lost += other.lost;
  }
  float value() const { return static_cast<float>(std::isfinite(sum) ? sum + lost : sum); }
};

#pragma omp declare reduction(exact : Exact : omp_out.join(omp_in)) initializer(omp_priv = Exact{})

}  // namespace

extern "C" int reduction(const float* x, float* y, int64_t M, int64_t N) {
  if (M >= 64) {
#pragma omp parallel for
    for (int64_t i = 0; i < M; ++i) {
      Exact total;
      for (int64_t j = 0; j < N; ++j) total.add(x[i * N + j]);
      y[i] = total.value();
    }
    return 0;
  }
  for (int64_t i = 0; i < M; ++i) {
    Exact total;
#pragma omp parallel for reduction(exact : total)
    for (int64_t j = 0; j < N; ++j) total.add(x[i * N + j]);
    y[i] = total.value();
  }
  return 0;
}
