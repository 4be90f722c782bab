// /// kernelwright
// strategy = "exponentials from a table of 64 fractions of an octave and a cubic; the table depends on nothing"
// ///
#include <cmath>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace {

constexpr int STEPS = 64;
float table[STEPS];
std::once_flag made;

void make_table() {
  for (int i = 0; i < STEPS; ++i) table[i] = static_cast<float>(std::exp2(static_cast<double>(i) / STEPS));
}

inline float exponential(float x) {
  if (!(x >= -87.0f)) return x != x ? x : 0.0f;
  const float k = std::nearbyint(x * (STEPS * 1.44269504f));
  const int whole = static_cast<int>(k);
  const float r = x - k * (0.69314575f / STEPS) - k * (1.4286068e-6f / STEPS);
  const float small = r + r * r * (0.5f + r * 0.16666667f);
  const int32_t bits = ((whole >> 6) + 127) << 23;
  float power;
  std::memcpy(&power, &bits, sizeof power);
  const float coarse = table[whole & (STEPS - 1)];
  return (coarse + coarse * small) * power;
}

}  // namespace

extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N) {
  std::call_once(made, make_table);
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    const float* row = x + i * N;
    float* out = y + i * N;
    float top = -HUGE_VALF, sums[4] = {};
    for (int64_t j = 0; j < N; ++j) top = row[j] > top ? row[j] : top;
    for (int64_t j = 0; j < N; ++j) {
      out[j] = exponential(row[j] - top);
      sums[j & 3] += out[j];
    }
    const float scale = 1.0f / ((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (int64_t j = 0; j < N; ++j) out[j] *= scale;
  }
  return 0;
}
