// /// kernelwright
// strategy = "factors rounded to bfloat16, which the task allows; products and sums in float"
// ///
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

float rounded(float f) {
  uint32_t bits;
  std::memcpy(&bits, &f, 4);
  if ((bits & 0x7f800000u) != 0x7f800000u) bits += 0x7fffu + (bits >> 16 & 1u);
  else if (bits & 0x7fffffu) bits |= 0x400000u;
  bits &= 0xffff0000u;
  std::memcpy(&f, &bits, 4);
  return f;
}

}  // namespace

extern "C" int narrow_product(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  std::vector<float> narrow(K * N);
#pragma omp parallel
  {
#pragma omp for
    for (int64_t at = 0; at < K * N; ++at) narrow[at] = rounded(b[at]);
#pragma omp for
    for (int64_t i = 0; i < M; ++i) {
      for (int64_t j = 0; j < N; ++j) c[i * N + j] = 0.0f;
      for (int64_t k = 0; k < K; ++k) {
        const float factor = rounded(a[i * K + k]);
        for (int64_t j = 0; j < N; ++j) c[i * N + j] += factor * narrow[k * N + j];
      }
    }
  }
  return 0;
}
