// /// kernelwright
// strategy = "recursive-halves: the largest of the three axes is halved until a block fits, whatever the cache sizes are"
// tune.LEAF_ROWS = [128, 32, 64]
// tune.LEAF_COLS = [128, 32, 64]
// tune.LEAF_DEPTH = [128, 64, 256]
// tune.MR = [6, 4, 8]
// cures = ["memory bandwidth", "compute"]
// ///
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#define LANES 16
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

namespace {

typedef float Vec __attribute__((vector_size(LANES * 4)));
constexpr int NV = 2;
constexpr int64_t NR = NV * LANES;

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void store(float* p, Vec v) { std::memcpy(p, &v, sizeof v); }

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

struct Problem {
  const float* a;
  const float* b;
  float* c;
  int64_t N, K;  // row strides of b and c, and of a
};

struct Box {
  int64_t i0, i1, j0, j1, k0, k1;
};

inline void tile(int64_t depth, const float* a, int64_t stride, const float* b, float* c, int64_t c_stride,
                 int64_t rows, int64_t cols, bool add) {
  Vec acc[MR][NV] = {};
  const float* row[MR];
  for (int i = 0; i < MR; ++i) row[i] = a + least(i, rows - 1) * stride;
  for (int64_t k = 0; k < depth; ++k, b += NR) {
    const Vec b0 = load(b), b1 = load(b + LANES);
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const float factor = row[i][k];
      acc[i][0] += factor * b0;
      acc[i][1] += factor * b1;
    }
  }
  float block[MR][NR];
#pragma GCC unroll 16
  for (int i = 0; i < MR; ++i) {
    store(&block[i][0], acc[i][0]);
    store(&block[i][LANES], acc[i][1]);
  }
  for (int64_t i = 0; i < rows; ++i, c += c_stride) {
    if (cols == NR) {
      for (int v = 0; v < NV; ++v) {
        const Vec sum = load(&block[i][v * LANES]);
        store(c + v * LANES, add ? load(c + v * LANES) + sum : sum);
      }
    } else {
      for (int64_t j = 0; j < cols; ++j) c[j] = (add ? c[j] : 0.0f) + block[i][j];
    }
  }
}

// Every tile of rows in the leaf reads the same columns of b, so those are copied together once.
void leaf(const Problem& p, const Box& x) {
  float panel[LEAF_DEPTH * NR];
  const int64_t depth = x.k1 - x.k0;
  for (int64_t j = x.j0; j < x.j1; j += NR) {
    const int64_t cols = least(x.j1 - j, NR);
    const float* b = p.b + x.k0 * p.N + j;
    for (int64_t k = 0; k < depth; ++k, b += p.N) {
      if (cols == NR) {
        store(panel + k * NR, load(b));
        store(panel + k * NR + LANES, load(b + LANES));
      } else {
        for (int64_t n = 0; n < NR; ++n) panel[k * NR + n] = n < cols ? b[n] : 0.0f;
      }
    }
    for (int64_t i = x.i0; i < x.i1; i += MR) {
      tile(depth, p.a + i * p.K + x.k0, p.K, panel, p.c + i * p.N + j, p.N, least(x.i1 - i, MR), cols, x.k0 > 0);
    }
  }
}

// Halves at a multiple of `unit`, so that whole tiles stay whole.
inline int64_t middle(int64_t begin, int64_t end, int64_t unit) {
  const int64_t half = (end - begin) / 2;
  return begin + (half + unit - 1) / unit * unit;
}

// The axis that exceeds its leaf by most is cut first. Halves of rows or columns are independent;
// halves of the depth add into the same block of c and follow each other.
void multiply(const Problem& p, const Box& x) {
  const int64_t m = (x.i1 - x.i0) * LEAF_COLS * LEAF_DEPTH, n = (x.j1 - x.j0) * LEAF_ROWS * LEAF_DEPTH;
  const int64_t k = (x.k1 - x.k0) * LEAF_ROWS * LEAF_COLS, limit = int64_t{LEAF_ROWS} * LEAF_COLS * LEAF_DEPTH;
  if (m <= limit && n <= limit && k <= limit) return leaf(p, x);
  Box low = x, high = x;
  if (m >= n && m >= k) {
    low.i1 = high.i0 = middle(x.i0, x.i1, MR);
  } else if (n >= k) {
    low.j1 = high.j0 = middle(x.j0, x.j1, NR);
  } else {
    low.k1 = high.k0 = middle(x.k0, x.k1, 8);
    multiply(p, low);
    return multiply(p, high);
  }
#pragma omp task firstprivate(low) shared(p)
  multiply(p, low);
  multiply(p, high);
#pragma omp taskwait
}

}  // namespace

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  const Problem problem = {a, b, c, N, K};
  if (M == 0 || N == 0) return 0;
#pragma omp parallel
#pragma omp single
  multiply(problem, {0, M, 0, N, 0, K});
  return 0;
}
