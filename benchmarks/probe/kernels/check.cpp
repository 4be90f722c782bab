// The verifier's own comparison: one pass, no fast-math, because NaN must be seen.
#include <cmath>
#include <cstdint>
#include <cstring>
extern "C" {
void poison(uint32_t* at, int64_t n, uint32_t pattern) {
  for (int64_t i = 0; i < n; ++i) at[i] = pattern;
}
int64_t count_equal(const uint32_t* at, int64_t n, uint32_t pattern) {
  int64_t found = 0;
  for (int64_t i = 0; i < n; ++i) found += at[i] == pattern;
  return found;
}
// result: [largest error, sum of squared errors, kind mismatches, worst tile, its error]
void compare(const float* got, const double* want, int64_t n, int64_t tile, double* result) {
  double worst = -1, squares = 0, where = 0;
  int64_t mismatch = 0;
  for (int64_t start = 0; start < n; start += tile) {
    int64_t end = start + tile < n ? start + tile : n;
    double top = 0, sum = 0;
    int64_t wrong = 0;
#pragma omp simd reduction(max : top) reduction(+ : sum, wrong)
    for (int64_t i = start; i < end; ++i) {
      double g = got[i], w = want[i], d = std::fabs(g - w);
      bool finite = d <= 1.7e308;
      bool same = g == w || (g != g && w != w);
      wrong += !finite && !same;
      d = finite ? d : 0.0;
      top = d > top ? d : top;
      sum += d * d;
    }
    squares += sum;
    mismatch += wrong;
    if (top > worst) worst = top, where = (double)(start / tile);
  }
  result[0] = worst, result[1] = squares, result[2] = (double)mismatch, result[3] = where, result[4] = worst;
}
}
