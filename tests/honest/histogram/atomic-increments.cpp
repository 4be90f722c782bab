// /// kernelwright
// strategy = "one table for all, incremented atomically"
// needs = ["atomic"]
// ///
#include <atomic>
#include <cstdint>

extern "C" int histogram(const int32_t* x, int32_t* counts, int64_t N) {
  std::atomic<int32_t> table[256];
  for (auto& bin : table) bin.store(0, std::memory_order_relaxed);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < N; ++i) table[x[i]].fetch_add(1, std::memory_order_relaxed);
  for (int bin = 0; bin < 256; ++bin) counts[bin] = table[bin].load(std::memory_order_relaxed);
  return 0;
}
