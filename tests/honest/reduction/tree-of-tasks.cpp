// /// kernelwright
// strategy = "a tree of OpenMP tasks over each row, pairwise down to leaves of a page"
// ///
#include <cstdint>

namespace {

typedef float vec __attribute__((vector_size(32)));
typedef float loose __attribute__((vector_size(32), aligned(4), may_alias));

float leaf(const float* x, int64_t n) {
  vec a = {}, b = {};
  int64_t j = 0;
  for (; j + 16 <= n; j += 16) {
    a += *reinterpret_cast<const loose*>(x + j);
    b += *reinterpret_cast<const loose*>(x + j + 8);
  }
  a += b;
  float sum = ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7]));
  for (; j < n; ++j) sum += x[j];
  return sum;
}

float branch(const float* x, int64_t n) {
  if (n <= 1024) return leaf(x, n);
  float left, right;
  const int64_t half = n / 2;
  if (n > 1 << 17) {
#pragma omp task shared(left) firstprivate(x, half)
    left = branch(x, half);
    right = branch(x + half, n - half);
#pragma omp taskwait
  } else {
    left = branch(x, half);
    right = branch(x + half, n - half);
  }
  return left + right;
}

}  // namespace

extern "C" int reduction(const float* x, float* y, int64_t M, int64_t N) {
#pragma omp parallel
#pragma omp single
  for (int64_t i = 0; i < M; ++i) y[i] = branch(x + i * N, N);
  return 0;
}
