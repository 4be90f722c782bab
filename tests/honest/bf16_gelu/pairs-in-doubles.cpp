// /// kernelwright
// strategy = "rows through a float buffer of the thread, the formula as it stands in double"
// ///
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

void widen(const uint16_t* in, float* out, int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    const uint16_t parts[2] = {0, in[j]};  // little endian
    std::memcpy(out + j, parts, 4);
  }
}

uint16_t nearest(double v) {
  const float f = static_cast<float>(v);
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  if (std::isnan(f)) return 0x7fc0;
  const uint32_t low = bits & 0xffff, high = bits >> 16;
  return static_cast<uint16_t>(high + (low > 0x8000 || (low == 0x8000 && high % 2)));
}

}  // namespace

extern "C" int bf16_gelu(const uint16_t* x, const uint16_t* bias, uint16_t* y, int64_t M, int64_t N) {
  std::vector<float> shift(N);
  widen(bias, shift.data(), N);
#pragma omp parallel
  {
    std::vector<float> row(N);
#pragma omp for
    for (int64_t i = 0; i < M; ++i) {
      widen(x + i * N, row.data(), N);
      for (int64_t j = 0; j < N; ++j) {
        const double z = static_cast<double>(row[j]) + shift[j];
        const double u = 0.7978845608028654 * (z + 0.044715 * z * z * z);
        y[i * N + j] = nearest(0.5 * z * (1.0 + std::tanh(u)));
      }
    }
  }
  return 0;
}
