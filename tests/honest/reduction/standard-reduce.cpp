// /// kernelwright
// strategy = "std::reduce and std::accumulate from the library, nothing written by hand but the split into threads"
// ///
#include <array>
#include <cstdint>
#include <future>
#include <numeric>

extern "C" int reduction(const float* x, float* y, int64_t M, int64_t N) {
  if (M == 1 && N >= 1 << 16) {
    std::array<std::future<double>, 3> parts;
    for (int p = 0; p < 3; ++p)
      parts[p] = std::async(std::launch::async, [=] {
        return std::reduce(x + N * p / 4, x + N * (p + 1) / 4, 0.0);
      });
    double sum = std::reduce(x + N * 3 / 4, x + N, 0.0);
    for (auto& part : parts) sum += part.get();
    y[0] = static_cast<float>(sum);
    return 0;
  }
  for (int64_t i = 0; i < M; ++i) y[i] = static_cast<float>(std::accumulate(x + i * N, x + (i + 1) * N, 0.0));
  return 0;
}
