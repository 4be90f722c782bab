// /// kernelwright
// strategy = "an OpenMP reduction over the whole table; four tables in turn, so that equal neighbours do not wait"
// ///
#include <cstdint>

extern "C" int histogram(const int32_t* x, int32_t* counts, int64_t N) {
  int32_t t0[256] = {}, t1[256] = {}, t2[256] = {}, t3[256] = {};
#pragma omp parallel for reduction(+ : t0[:256], t1[:256], t2[:256], t3[:256])
  for (int64_t i = 0; i < N / 4; ++i) {
    ++t0[x[4 * i]];
    ++t1[x[4 * i + 1]];
    ++t2[x[4 * i + 2]];
    ++t3[x[4 * i + 3]];
  }
  for (int64_t i = N / 4 * 4; i < N; ++i) ++t0[x[i]];
  for (int bin = 0; bin < 256; ++bin) counts[bin] = t0[bin] + t1[bin] + t2[bin] + t3[bin];
  return 0;
}
