// /// kernelwright
// strategy = "plain std::threads that take rows from a shared counter and are joined before the call returns"
// ///
#include <atomic>
#include <cmath>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace {

struct Work {
  const float *x, *weight;
  float* y;
  float eps;
  int64_t rows, n;
  std::atomic<int64_t> next{0};

  void operator()() {
    for (int64_t i; (i = next.fetch_add(8)) < rows;)
      for (int64_t r = i; r < rows && r < i + 8; ++r) row(x + r * n, y + r * n);
  }

  void row(const float* in, float* out) const {
    float squares[16] = {};
    for (int64_t j = 0; j < n; ++j) squares[j % 16] += in[j] * in[j];
    for (int width = 8; width; width /= 2)
      for (int l = 0; l < width; ++l) squares[l] += squares[l + width];
    const float scale = 1.0f / std::sqrt(squares[0] / static_cast<float>(n) + eps);
    for (int64_t j = 0; j < n; ++j) out[j] = in[j] * scale * weight[j];
  }
};

}  // namespace

extern "C" int rmsnorm(const float* x, const float* weight, float* y, float eps, int64_t M, int64_t N) {
  Work work{x, weight, y, eps, M, N};
  std::vector<std::thread> others;
  const unsigned hands = std::thread::hardware_concurrency();
  for (unsigned h = 1; h < hands && M > 8; ++h) {
    try {
      others.emplace_back(std::ref(work));
    } catch (const std::system_error&) {
      break;  // fewer hands are slower, not wrong
    }
  }
  work();
  for (std::thread& other : others) other.join();
  return 0;
}
