// /// kernelwright
// strategy = "sums of squares of column strips wait in anonymous mapped memory; a second loop normalises strip by strip"
// ///
#include <sys/mman.h>

#include <cerrno>
#include <cmath>
#include <cstdint>

extern "C" int rmsnorm(const float* x, const float* weight, float* y, float eps, int64_t M, int64_t N) {
  constexpr int64_t STRIP = 2048;
  const int64_t strips = (N + STRIP - 1) / STRIP;
  const size_t bytes = static_cast<size_t>(M * strips + 1) * sizeof(float);
  void* const block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return errno;
  float* const partial = static_cast<float*>(block);
#pragma omp parallel
  {
#pragma omp for collapse(2)
    for (int64_t i = 0; i < M; ++i)
      for (int64_t s = 0; s < strips; ++s) {
        const int64_t end = (s + 1) * STRIP < N ? (s + 1) * STRIP : N;
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int64_t j = s * STRIP; j < end; ++j) sum += x[i * N + j] * x[i * N + j];
        partial[i * strips + s] = sum;
      }
#pragma omp for collapse(2)
    for (int64_t i = 0; i < M; ++i)
      for (int64_t s = 0; s < strips; ++s) {
        float sum = 0.0f;
        for (int64_t t = 0; t < strips; ++t) sum += partial[i * strips + t];
        const float scale = 1.0f / std::sqrt(sum / static_cast<float>(N) + eps);
        const int64_t end = (s + 1) * STRIP < N ? (s + 1) * STRIP : N;
        for (int64_t j = s * STRIP; j < end; ++j) y[i * N + j] = x[i * N + j] * scale * weight[j];
      }
  }
  munmap(block, bytes);
  return 0;
}
