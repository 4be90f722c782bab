// /// kernelwright
// strategy = "pairwise tree: small leaves are added like a binary counter, so that the error grows with the logarithm of the length"
// tune.LEAF = [2048, 512, 1024, 8192]
// tune.LEAVES = [32, 8, 128]
// tune.ACC = [8, 4]
// where = ["LEAF * LEAVES <= max(65536, N)"]
// cures = ["accuracy", "parallelism"]
// ///
// LEAF: elements of a leaf. LEAVES: leaves of one thread's subtree. ACC: vectors in flight in each reduction.
#include <cstdint>
#include <vector>

namespace {
#if defined(__AVX512F__)
constexpr int LANES = 16;
#elif defined(__AVX2__)
constexpr int LANES = 8;
#else
constexpr int LANES = 4;
#endif
typedef float vec __attribute__((vector_size(LANES * 4)));
typedef float loose __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

// The first n lanes from memory, the others filled.
inline vec load(const float* p, int64_t n = LANES, float fill = 0.0f) {
  if (n >= LANES) return *reinterpret_cast<const loose*>(p);
  vec v = vec{} + fill;
  for (int64_t l = 0; l < n; ++l) v[l] = p[l];
  return v;
}

// Calls f(accumulator, offset, lanes) over n elements.
template <class F>
inline void sweep(int64_t n, F f) {
  int64_t j = 0;
  for (; j + ACC * LANES <= n; j += ACC * LANES)
    for (int a = 0; a < ACC; ++a) f(a, j + a * LANES, LANES);
  for (; j + LANES <= n; j += LANES) f(0, j, LANES);
  if (j < n) f(0, j, n - j);
}

// Sum of the lanes of v, as a tree.
inline float lane_sum(vec v) {
  float lanes[LANES];
  *reinterpret_cast<loose*>(lanes) = v;
  for (int width = LANES / 2; width; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
}

inline float total(const vec (&sums)[ACC]) {
  vec sum = sums[0];
  for (int a = 1; a < ACC; ++a) sum += sums[a];
  return lane_sum(sum);
}

inline float sum_of(const float* x, int64_t n) {
  vec sums[ACC] = {};
  sweep(n, [&](int a, int64_t j, int64_t lanes) { sums[a] += load(x + j, lanes); });
  return total(sums);
}

// Adds values[0..count) as a balanced tree, in place.
inline float fold(float* values, int64_t count) {
  for (int64_t width = 1; width < count; width *= 2)
    for (int64_t k = 0; k + width < count; k += 2 * width) values[k] += values[k + width];
  return count ? values[0] : 0.0f;
}

inline float subtree(const float* x, int64_t n) {
  float leaves[LEAVES];
  int64_t count = 0;
  for (int64_t j = 0; j < n; j += LEAF) leaves[count++] = sum_of(x + j, n - j < LEAF ? n - j : LEAF);
  return fold(leaves, count);
}
}  // namespace

extern "C" int reduction(const float* x, float* y, int64_t M, int64_t N) {
  constexpr int64_t SPAN = LEAF * LEAVES;
  const int64_t spans = (N + SPAN - 1) / SPAN;
  std::vector<float> partial(M * spans);
#pragma omp parallel
  {
#pragma omp for
    for (int64_t t = 0; t < M * spans; ++t) {
      const int64_t first = t % spans * SPAN;
      partial[t] = subtree(x + t / spans * N + first, N - first < SPAN ? N - first : SPAN);
    }
#pragma omp for
    for (int64_t i = 0; i < M; ++i) y[i] = fold(partial.data() + i * spans, spans);
  }
  return 0;
}
