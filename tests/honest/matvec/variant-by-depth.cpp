// /// kernelwright
// strategy = "a table of functions by the depth of the product: short, long, and long with rows fetched ahead"
// ///
#include <cstdint>

namespace {

using Dot = float (*)(const float* a, const float* x, int64_t k);

float brief(const float* a, const float* x, int64_t k) {
  float sum = 0.0f;
  for (int64_t j = 0; j < k; ++j) sum += a[j] * x[j];
  return sum;
}

float lengthy(const float* a, const float* x, int64_t k) {
  float lanes[32] = {};
  int64_t j = 0;
  for (; j + 32 <= k; j += 32)
    for (int l = 0; l < 32; ++l) lanes[l] += a[j + l] * x[j + l];
  for (int width = 16; width; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0] + brief(a + j, x + j, k - j);
}

float fetched(const float* a, const float* x, int64_t k) {
  float sum = 0.0f;
  for (int64_t j = 0; j < k; j += 512) {
    const int64_t n = k - j < 512 ? k - j : 512;
    for (int64_t line = 0; line < n; line += 16) __builtin_prefetch(a + j + 512 + line, 0, 0);
    sum += lengthy(a + j, x + j, n);
  }
  return sum;
}

struct Choice {
  int64_t least;
  Dot dot;
};
constexpr Choice CHOICES[] = {{4096, fetched}, {64, lengthy}, {0, brief}};

Dot choose(int64_t k) {
  for (const Choice& choice : CHOICES)
    if (k >= choice.least) return choice.dot;
  return brief;
}

}  // namespace

extern "C" int matvec(const float* a, const float* x, float* y, int64_t M, int64_t K) {
  const Dot dot = choose(K);
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) y[i] = dot(a + i * K, x, K);
  return 0;
}
