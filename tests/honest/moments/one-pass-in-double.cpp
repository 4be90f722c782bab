// /// kernelwright
// strategy = "all five numbers in one pass, moments in double about the row's first element"
// ///
#include <cmath>
#include <cstdint>

extern "C" int moments(const float* x, float* mean, float* variance, float* least, float* largest, int64_t* place,
                       int64_t M, int64_t N) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    const float* row = x + i * N;
    const double origin = std::isfinite(row[0]) ? row[0] : 0.0;
    double sum = 0.0, squares = 0.0;
    float low = row[0], high = row[0];
    int64_t at = 0;
    for (int64_t j = 0; j < N; ++j) {
      const double d = row[j] - origin;
      sum += d;
      squares += d * d;
      if (std::isnan(high)) continue;
      if (std::isnan(row[j])) low = high = row[j], at = j;
      else if (row[j] < low) low = row[j];
      else if (row[j] > high) high = row[j], at = j;
    }
    const double shift = sum / N;
    mean[i] = static_cast<float>(origin + shift);
    variance[i] = static_cast<float>(squares / N - shift * shift);
    least[i] = low, largest[i] = high, place[i] = at;
  }
  return 0;
}
