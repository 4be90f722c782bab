// /// kernelwright
// strategy = "Neumaier's compensated sum in float; a sum that left the finite numbers is taken as it is"
// ///
#include <cmath>
#include <cstdint>

namespace {

struct Sum {
  float value = 0.0f, rest = 0.0f;

  void add(float v) {
    const float next = value + v;
    rest += std::fabs(value) >= std::fabs(v) ? (value - next) + v : (v - next) + value;
    value = next;
  }
  float total() const { return std::isfinite(value) ? value + rest : value; }
};

float stretch(const float* x, int64_t n) {
  Sum lanes[8];
  for (int64_t j = 0; j < n; ++j) lanes[j & 7].add(x[j]);
  Sum all;
  for (const Sum& lane : lanes) all.add(lane.total());
  return all.total();
}

}  // namespace

extern "C" int reduction(const float* x, float* y, int64_t M, int64_t N) {
  constexpr int64_t STRETCHES = 16;
  for (int64_t i = 0; i < M; ++i) {
    float parts[STRETCHES];
#pragma omp parallel for if (N > 100000)
    for (int64_t s = 0; s < STRETCHES; ++s) {
      const int64_t from = N * s / STRETCHES, until = N * (s + 1) / STRETCHES;
      parts[s] = stretch(x + i * N + from, until - from);
    }
    Sum all;
    for (float part : parts) all.add(part);
    y[i] = all.total();
  }
  return 0;
}
