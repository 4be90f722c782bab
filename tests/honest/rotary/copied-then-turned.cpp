// /// kernelwright
// strategy = "memcpy of a head into the output, which is then turned in place"
// ///
#include <cstdint>
#include <cstring>

extern "C" int rotary(const float* x, const float* cos, const float* sin, float* y, int64_t B, int64_t H, int64_t S,
                      int64_t D) {
  const int64_t half = D / 2;
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t head = 0; head < B * H; ++head) {
    float* out = y + head * S * D;
    if (S > 0 && D > 0) std::memcpy(out, x + head * S * D, S * D * sizeof(float));
    for (int64_t s = 0; s < S; ++s, out += D)
      for (int64_t d = 0; d < half; ++d) {
        const float first = out[d], second = out[half + d];
        out[d] = first * cos[s * half + d] - second * sin[s * half + d];
        out[half + d] = second * cos[s * half + d] + first * sin[s * half + d];
      }
  }
  return 0;
}
