// /// kernelwright
// strategy = "std::threads, each with a packed copy of its rows of a, interleaved by six for the inner loop"
// ///
#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

constexpr int64_t MR = 6, NR = 16;

void panel(const float* packed, const float* b, float* c, int64_t rows, int64_t N, int64_t K) {
  for (int64_t j0 = 0; j0 < N; j0 += NR) {
    const int64_t columns = std::min(NR, N - j0);
    float sums[MR][NR] = {};
    for (int64_t k = 0; k < K; ++k) {
      float row[NR] = {};
      if (columns == NR) std::copy_n(b + k * N + j0, NR, row);
      else std::copy_n(b + k * N + j0, columns, row);
      for (int64_t i = 0; i < MR; ++i)
        for (int64_t j = 0; j < NR; ++j) sums[i][j] += packed[k * MR + i] * row[j];
    }
    for (int64_t i = 0; i < rows; ++i) std::copy_n(sums[i], columns, c + i * N + j0);
  }
}

void rows(const float* a, const float* b, float* c, int64_t from, int64_t until, int64_t N, int64_t K) {
  std::vector<float> packed(MR * K + 1);
  for (int64_t i = from; i < until; i += MR) {
    const int64_t count = std::min(MR, until - i);
    for (int64_t k = 0; k < K; ++k)
      for (int64_t r = 0; r < MR; ++r) packed[k * MR + r] = r < count ? a[(i + r) * K + k] : 0.0f;
    panel(packed.data(), b, c + i * N, count, N, K);
  }
}

}  // namespace

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  const int64_t hands = M * N * K < 1 << 15 ? 1 : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  for (int64_t h = 1; h < hands; ++h)
    others.emplace_back(rows, a, b, c, M * h / hands, M * (h + 1) / hands, N, K);
  rows(a, b, c, 0, M / hands, N, K);
  for (std::thread& other : others) other.join();
  return 0;
}
