// /// kernelwright
// strategy = "huge pages mapped once and kept as scratch; b is packed into them anew in every call"
// ///
#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace {

constexpr int64_t WIDTH = 32;
float* scratch;
size_t room;

int make_room(size_t bytes) {
  if (bytes <= room) return 0;
  if (scratch) munmap(scratch, room);
  scratch = nullptr, room = 0;
  const size_t whole = (bytes + (size_t{2} << 20) - 1) & ~((size_t{2} << 20) - 1);
  void* at = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return errno;
  madvise(at, whole, MADV_HUGEPAGE);  // a wish, not a need
  scratch = static_cast<float*>(at), room = whole;
  return 0;
}

void strip(const float* a, const float* packed, float* c, int64_t columns, int64_t K) {
  float sums[WIDTH] = {};
  for (int64_t k = 0; k < K; ++k)
    for (int64_t j = 0; j < WIDTH; ++j) sums[j] += a[k] * packed[k * WIDTH + j];
  std::memcpy(c, sums, columns * sizeof(float));
}

}  // namespace

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  const int64_t strips = (N + WIDTH - 1) / WIDTH;
  if (const int code = make_room((strips * K * WIDTH + 1) * sizeof(float))) return code;
#pragma omp parallel
  {
#pragma omp for
    for (int64_t p = 0; p < strips; ++p) {
      const int64_t columns = N - p * WIDTH < WIDTH ? N - p * WIDTH : WIDTH;
      for (int64_t k = 0; k < K; ++k) {
        float* to = scratch + (p * K + k) * WIDTH;
        std::memset(to, 0, WIDTH * sizeof(float));
        std::memcpy(to, b + k * N + p * WIDTH, columns * sizeof(float));
      }
    }
#pragma omp for collapse(2) schedule(static)
    for (int64_t p = 0; p < strips; ++p)
      for (int64_t i = 0; i < M; ++i)
        strip(a + i * K, scratch + p * K * WIDTH, c + i * N + p * WIDTH,
              N - p * WIDTH < WIDTH ? N - p * WIDTH : WIDTH, K);
  }
  return 0;
}
