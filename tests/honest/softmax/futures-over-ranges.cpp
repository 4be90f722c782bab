// /// kernelwright
// strategy = "rows handed to std::async in ranges, all futures waited for; without threads the ranges run here"
// ///
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <future>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

namespace {

void rows(const float* x, float* y, int64_t count, int64_t n) {
  for (; count > 0; --count, x += n, y += n) {
    const float top = std::accumulate(x, x + n, -INFINITY, [](float a, float b) { return b > a ? b : a; });
    std::transform(x, x + n, y, [top](float v) { return std::exp(v - top); });
    const double sum = std::accumulate(y, y + n, 0.0);
    std::for_each(y, y + n, [sum](float& v) { v = static_cast<float>(v / sum); });
  }
}

}  // namespace

extern "C" int softmax(const float* x, float* y, int64_t M, int64_t N) {
  const int64_t hands = std::max<int64_t>(1, std::min<int64_t>(M, std::thread::hardware_concurrency()));
  std::vector<std::future<void>> others;
  int64_t from = 0;
  for (int64_t h = 1; h < hands; ++h) {
    const int64_t until = M * h / hands;
    const float* first = x + from * N;
    float* out = y + from * N;
    const int64_t count = until - from;
    try {
      others.push_back(std::async(std::launch::async, rows, first, out, count, N));
    } catch (const std::system_error&) {
      rows(first, out, count, N);
    }
    from = until;
  }
  rows(x + from * N, y + from * N, M - from, N);
  for (auto& other : others) other.get();
  return 0;
}
