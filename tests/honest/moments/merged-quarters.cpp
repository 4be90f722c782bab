// /// kernelwright
// strategy = "a row in four quarters, each a struct that knows how to take another one in"
// ///
#include <cmath>
#include <cstdint>

namespace {

struct Quarter {
  int64_t count = 0, at = 0;
  double mean = 0.0, squares = 0.0;
  float low = INFINITY, high = -INFINITY;
  bool odd = false;  // holds a NaN, the first of which is at `at`

  void add(float v, int64_t j) {
    ++count;
    const double before = v - mean;
    mean += before / static_cast<double>(count);
    squares += before * (v - mean);
    if (odd) return;
    if (std::isnan(v)) odd = true, at = j, low = high = v;
    if (count == 1 || v > high) high = v, at = j;
    if (v < low) low = v;
  }

  void join(const Quarter& next) {
    if (!next.count) return;
    if (!count) {
      *this = next;
      return;
    }
    const double all = static_cast<double>(count + next.count), apart = next.mean - mean;
    squares += next.squares + apart * apart * static_cast<double>(count) * static_cast<double>(next.count) / all;
    mean += apart * static_cast<double>(next.count) / all;
    count += next.count;
    if (odd) return;
    if (next.odd || next.high > high) at = next.at, high = next.high;
    if (next.odd || next.low < low) low = next.low;
    odd = next.odd;
  }
};

}  // namespace

extern "C" int moments(const float* x, float* mean, float* variance, float* least, float* largest, int64_t* place,
                       int64_t M, int64_t N) {
#pragma omp parallel for schedule(static, 4)
  for (int64_t i = 0; i < M; ++i) {
    Quarter quarters[4];
    for (int64_t p = 0; p < 4; ++p)
      for (int64_t j = N * p / 4; j < N * (p + 1) / 4; ++j) quarters[p].add(x[i * N + j], j);
    for (int p = 1; p < 4; ++p) quarters[0].join(quarters[p]);
    const Quarter& all = quarters[0];
    // Infinite rows have no variance; a running mean gives NaN for the mean too.
    double sum = all.mean;
    if (!std::isfinite(sum)) {
      sum = 0.0;
      for (int64_t j = 0; j < N; ++j) sum += x[i * N + j];
    }
    mean[i] = static_cast<float>(sum);
    variance[i] = static_cast<float>(std::isfinite(sum) ? all.squares / static_cast<double>(N) : NAN);
    least[i] = all.low, largest[i] = all.high, place[i] = all.at;
  }
  return 0;
}
