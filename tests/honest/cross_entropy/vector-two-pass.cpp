// /// kernelwright
// strategy = "two passes in vectors of sixteen with an exponential of our own, four sums in flight"
// ///
#include <cmath>
#include <cstdint>

namespace {

typedef float vec __attribute__((vector_size(64)));
typedef int32_t ivec __attribute__((vector_size(64)));
typedef float loose __attribute__((vector_size(64), aligned(4), may_alias));
constexpr int64_t LANES = 16, FLIGHT = 4;

inline vec get(const float* p) { return *reinterpret_cast<const loose*>(p); }

// e^x for x <= 0 by (1 + r/2 + r^2/10 + r^3/120) / (1 - r/2 + r^2/10 - r^3/120) times a power of two.
inline vec exponential(vec x) {
  const vec t = x * 1.44269504f + 12582912.0f, n = t - 12582912.0f;
  const vec r = x - n * 0.693359375f + n * 2.12194440e-4f, rr = r * r;
  const vec even = 1.0f + rr * 0.1f, odd = r * (0.5f + rr * (1.0f / 120.0f));
  const ivec power = (reinterpret_cast<ivec>(t) << 23) + 0x3f800000;
  return x < -87.0f ? vec{} : (even + odd) / (even - odd) * reinterpret_cast<vec>(power);
}

}  // namespace

extern "C" int cross_entropy(const float* logits, const int64_t* labels, float* loss, int64_t N, int64_t V) {
#pragma omp parallel for schedule(dynamic, 4)
  for (int64_t i = 0; i < N; ++i) {
    const float* row = logits + i * V;
    const int64_t whole = V / (LANES * FLIGHT) * (LANES * FLIGHT);
    float top = -INFINITY, rest = 0.0f;
    vec tops = vec{} - INFINITY, sums[FLIGHT] = {};
    for (int64_t j = 0; j < whole; j += LANES) {
      const vec v = get(row + j);
      tops = v > tops ? v : tops;
    }
    for (int l = 0; l < LANES; ++l) top = tops[l] > top ? tops[l] : top;
    for (int64_t j = whole; j < V; ++j) top = row[j] > top ? row[j] : top;
    for (int64_t j = 0; j < whole; j += LANES * FLIGHT)
      for (int64_t f = 0; f < FLIGHT; ++f) sums[f] += exponential(get(row + j + f * LANES) - top);
    for (int64_t j = whole; j < V; ++j) rest += std::exp(row[j] - top);
    const vec sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    double total = rest;
    for (int l = 0; l < LANES; ++l) total += sum[l];
    loss[i] = static_cast<float>(std::log(total) - (static_cast<double>(row[labels[i]]) - top));
  }
  return 0;
}
