// /// kernelwright
// strategy = "joined std::threads draw blocks of output columns from an atomic counter; x is kept in cache for a block"
// ///
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

extern "C" int linear_relu_div(const float* x, const float* weight, const float* bias, float* y, float divisor,
                               int64_t M, int64_t N, int64_t K) {
  constexpr int64_t BLOCK = 16;
  std::atomic<int64_t> next{0};
  const auto work = [&] {
    for (int64_t j0; (j0 = next.fetch_add(BLOCK, std::memory_order_relaxed)) < N;)
      for (int64_t i = 0; i < M; ++i)
        for (int64_t j = j0; j < N && j < j0 + BLOCK; ++j) {
          float lanes[32] = {}, sum = bias[j];
          int64_t k = 0;
          for (; k + 32 <= K; k += 32)
            for (int l = 0; l < 32; ++l) lanes[l] += x[i * K + k + l] * weight[j * K + k + l];
          for (int width = 16; width; width /= 2)
            for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
          for (; k < K; ++k) sum += x[i * K + k] * weight[j * K + k];
          sum += lanes[0];
          y[i * N + j] = (sum < 0.0f ? 0.0f : sum) / divisor;
        }
  };
  std::vector<std::thread> others;
  if (M * N * K > 1 << 18)
    for (unsigned h = 1; h < std::thread::hardware_concurrency(); ++h) others.emplace_back(work);
  work();
  for (auto& other : others) other.join();
  return 0;
}
