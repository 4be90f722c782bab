// /// kernelwright
// strategy = "the register tile is a parameter pack: std::index_sequence unrolls rows and vectors at compile time"
// ///
#include <cstdint>
#include <cstring>
#include <utility>

namespace {

typedef float vec __attribute__((vector_size(32)));
constexpr int64_t LANES = 8;

inline vec load(const float* p) {
  vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <size_t... R>
inline void step(const float* a, int64_t K, vec b0, vec b1, vec (&sums)[sizeof...(R)][2], std::index_sequence<R...>) {
  ((sums[R][0] += a[R * K] * b0, sums[R][1] += a[R * K] * b1), ...);
}

template <size_t... R>
inline void write(float* c, int64_t N, const vec (&sums)[sizeof...(R)][2], std::index_sequence<R...>) {
  ((std::memcpy(c + R * N, &sums[R][0], 32), std::memcpy(c + R * N + LANES, &sums[R][1], 32)), ...);
}

template <int ROWS>
void strip(const float* a, const float* b, float* c, int64_t N, int64_t K) {
  using Rows = std::make_index_sequence<ROWS>;
  int64_t j = 0;
  for (; j + 2 * LANES <= N; j += 2 * LANES) {
    vec sums[ROWS][2] = {};
    for (int64_t k = 0; k < K; ++k)
      step(a + k, K, load(b + k * N + j), load(b + k * N + j + LANES), sums, Rows{});
    write(c + j, N, sums, Rows{});
  }
  for (; j < N; ++j)
    for (int r = 0; r < ROWS; ++r) {
      float sum = 0.0f;
      for (int64_t k = 0; k < K; ++k) sum += a[r * K + k] * b[k * N + j];
      c[r * N + j] = sum;
    }
}

}  // namespace

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
#pragma omp parallel for
  for (int64_t i = 0; i < M; i += 5) {
    if (i + 5 <= M) strip<5>(a + i * K, b, c + i * N, N, K);
    else
      for (int64_t r = i; r < M; ++r) strip<1>(a + r * K, b, c + r * N, N, K);
  }
  return 0;
}
