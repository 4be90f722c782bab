// /// kernelwright
// strategy = "each thread walks several distant parts of its piece at once, so that more memory requests are under way"
// tune.STREAMS = [4, 2, 8]
// tune.PIECE = [262144, 65536, 1048576]
// tune.UNROLL = [2, 1, 4]
// tune.AHEAD = [0, 16]
// where = ["PIECE <= max(65536, N)"]
// cures = ["memory latency", "memory bandwidth"]
// ///
// STREAMS: parts walked at once. PIECE: elements of a piece, which is one task. UNROLL: vectors of each part in a
// step. AHEAD: cache lines that are prefetched in advance, 0 for none.
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

// Sum of the lanes of v, as a tree.
inline float lane_sum(vec v) {
  float lanes[LANES];
  *reinterpret_cast<loose*>(lanes) = v;
  for (int width = LANES / 2; width; width /= 2)
    for (int l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  return lanes[0];
}

inline float sum_of(const float* x, int64_t n) {
  vec sums[STREAMS][UNROLL] = {};
  const int64_t part = n / (STREAMS * UNROLL * LANES) * (UNROLL * LANES);  // elements of a part
  for (int64_t j = 0; j < part; j += UNROLL * LANES)
    for (int s = 0; s < STREAMS; ++s)
      for (int u = 0; u < UNROLL; ++u) {
        const float* here = x + s * part + j + u * LANES;
        if (AHEAD) __builtin_prefetch(here + AHEAD * 16);
        sums[s][u] += load(here);
      }
  vec rest = {};
  for (int64_t j = STREAMS * part; j < n; j += LANES) rest += load(x + j, n - j);
  for (int s = 0; s < STREAMS; ++s) {
    vec sum = sums[s][0];
    for (int u = 1; u < UNROLL; ++u) sum += sums[s][u];
    rest += sum;
  }
  return lane_sum(rest);
}
}  // namespace

extern "C" int reduction(const float* x, float* y, int64_t M, int64_t N) {
  const int64_t pieces = (N + PIECE - 1) / PIECE;
  std::vector<float> partial(M * pieces);
#pragma omp parallel for
  for (int64_t t = 0; t < M * pieces; ++t) {
    const int64_t first = t % pieces * PIECE;
    partial[t] = sum_of(x + t / pieces * N + first, N - first < PIECE ? N - first : PIECE);
  }
  for (int64_t i = 0; i < M; ++i) {
    y[i] = 0.0f;
    for (int64_t p = 0; p < pieces; ++p) y[i] += partial[i * pieces + p];
  }
  return 0;
}
