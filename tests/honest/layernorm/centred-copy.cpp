// /// kernelwright
// strategy = "each thread keeps one row in scratch of its own, first centred, then squared, then written out"
// ///
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>

namespace {

class Row {
 public:
  explicit Row(int64_t n) : n_(n), held_(new float[n + 1]) {}

  void take(const float* x) {
    double sum = 0.0;
    for (int64_t j = 0; j < n_; ++j) sum += held_[j] = x[j];
    const float mean = static_cast<float>(sum / static_cast<double>(n_));
    for (int64_t j = 0; j < n_; ++j) held_[j] -= mean;
  }

  float variance() const {
    const double squares = std::inner_product(held_.get(), held_.get() + n_, held_.get(), 0.0);
    return static_cast<float>(squares / static_cast<double>(n_));
  }

  float operator[](int64_t j) const { return held_[j]; }

 private:
  int64_t n_;
  std::unique_ptr<float[]> held_;
};

}  // namespace

extern "C" int layernorm(const float* x, const float* weight, const float* bias, float* y, float eps, int64_t M,
                         int64_t N) {
  bool failed = false;
#pragma omp parallel shared(failed)
  {
    try {
      Row row(N);
#pragma omp for
      for (int64_t i = 0; i < M; ++i) {
        row.take(x + i * N);
        const float scale = 1.0f / std::sqrt(row.variance() + eps);
        for (int64_t j = 0; j < N; ++j) y[i * N + j] = row[j] * scale * weight[j] + bias[j];
      }
    } catch (const std::bad_alloc&) {
#pragma omp atomic write
      failed = true;
    }
  }
  return failed ? 12 : 0;
}
