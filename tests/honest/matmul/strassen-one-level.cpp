// /// kernelwright
// strategy = "one level of Strassen's seven products for even sizes above 256, plain blocked products below and inside"
// ///
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

// c [m, n] = a [m, k] · b [k, n], each with a row stride of its own.
void product(const float* a, int64_t as, const float* b, int64_t bs, float* c, int64_t cs, int64_t m, int64_t n,
             int64_t k) {
#pragma omp parallel for
  for (int64_t i0 = 0; i0 < m; i0 += 4) {
    const int64_t rows = m - i0 < 4 ? m - i0 : 4;
    for (int64_t i = i0; i < i0 + rows; ++i) std::memset(c + i * cs, 0, n * sizeof(float));
    for (int64_t k0 = 0; k0 < k; k0 += 64) {
      const int64_t end = k0 + 64 < k ? k0 + 64 : k;
      for (int64_t i = i0; i < i0 + rows; ++i)
        for (int64_t p = k0; p < end; ++p) {
          const float factor = a[i * as + p];
          for (int64_t j = 0; j < n; ++j) c[i * cs + j] += factor * b[p * bs + j];
        }
    }
  }
}

std::vector<float> combine(const float* p, const float* q, int64_t stride, int64_t rows, int64_t columns, float sign) {
  std::vector<float> sum(rows * columns);
#pragma omp parallel for
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) sum[i * columns + j] = p[i * stride + j] + sign * q[i * stride + j];
  return sum;
}

void strassen(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  const int64_t m = M / 2, n = N / 2, k = K / 2;
  const float *a11 = a, *a12 = a + k, *a21 = a + m * K, *a22 = a21 + k;
  const float *b11 = b, *b12 = b + n, *b21 = b + k * N, *b22 = b21 + n;
  const auto s1 = combine(a11, a22, K, m, k, 1), s2 = combine(a21, a22, K, m, k, 1), s3 = combine(a11, a12, K, m, k, 1),
             s4 = combine(a21, a11, K, m, k, -1), s5 = combine(a12, a22, K, m, k, -1);
  const auto t1 = combine(b11, b22, N, k, n, 1), t2 = combine(b12, b22, N, k, n, -1), t3 = combine(b21, b11, N, k, n, -1),
             t4 = combine(b11, b12, N, k, n, 1), t5 = combine(b21, b22, N, k, n, 1);
  std::vector<float> p[7];
  for (auto& one : p) one.resize(m * n);
  product(s1.data(), k, t1.data(), n, p[0].data(), n, m, n, k);
  product(s2.data(), k, b11, N, p[1].data(), n, m, n, k);
  product(a11, K, t2.data(), n, p[2].data(), n, m, n, k);
  product(a22, K, t3.data(), n, p[3].data(), n, m, n, k);
  product(s3.data(), k, b22, N, p[4].data(), n, m, n, k);
  product(s4.data(), k, t4.data(), n, p[5].data(), n, m, n, k);
  product(s5.data(), k, t5.data(), n, p[6].data(), n, m, n, k);
#pragma omp parallel for
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      const int64_t at = i * n + j;
      c[i * N + j] = p[0][at] + p[3][at] - p[4][at] + p[6][at];
      c[i * N + n + j] = p[2][at] + p[4][at];
      c[(m + i) * N + j] = p[1][at] + p[3][at];
      c[(m + i) * N + n + j] = p[0][at] - p[1][at] + p[2][at] + p[5][at];
    }
}

}  // namespace

extern "C" int matmul(const float* a, const float* b, float* c, int64_t M, int64_t N, int64_t K) {
  const bool even = M % 2 == 0 && N % 2 == 0 && K % 2 == 0;
  if (even && M > 256 && N > 256 && K > 256) strassen(a, b, c, M, N, K);
  else product(a, K, b, N, c, N, M, N, K);
  return 0;
}
