#include <cmath>
#include <cstdint>
extern "C" int softmax(const float* x, float* y, int64_t rows, int64_t n) {
  for (int64_t i = 0; i < rows; ++i, x += n, y += n) {
    float top = x[0], sum = 0;
    for (int64_t j = 1; j < n; ++j) top = x[j] > top ? x[j] : top;
    for (int64_t j = 0; j < n; ++j) sum += y[j] = std::exp(x[j] - top);
    for (int64_t j = 0; j < n; ++j) y[j] /= sum;
  }
  return 0;
}
