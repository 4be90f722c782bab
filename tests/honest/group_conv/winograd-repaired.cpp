// /// kernelwright
// strategy = "Winograd F(2x2, 3x3) in double; a tile that does not come out finite is computed again directly"
// ///
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

struct Image {
  const float* x;  // the group's first plane
  int64_t H, W, depth;

  double at(int64_t k, int64_t h, int64_t w) const {
    return h < 0 || w < 0 || h >= H || w >= W ? 0.0 : x[(k * H + h) * W + w];
  }
};

void turn_weights(const float* g, double* u) {
  double t[4][3];
  for (int j = 0; j < 3; ++j) {
    const double a = g[j], b = g[3 + j], c = g[6 + j];
    t[0][j] = a, t[1][j] = 0.5 * (a + b + c), t[2][j] = 0.5 * (a - b + c), t[3][j] = c;
  }
  for (int i = 0; i < 4; ++i) {
    const double a = t[i][0], b = t[i][1], c = t[i][2];
    u[4 * i] = a, u[4 * i + 1] = 0.5 * (a + b + c), u[4 * i + 2] = 0.5 * (a - b + c), u[4 * i + 3] = c;
  }
}

void turn_input(double (&d)[4][4]) {
  for (int j = 0; j < 4; ++j) {
    const double a = d[0][j], b = d[1][j], c = d[2][j], e = d[3][j];
    d[0][j] = a - c, d[1][j] = b + c, d[2][j] = c - b, d[3][j] = b - e;
  }
  for (auto& r : d) {
    const double a = r[0], b = r[1], c = r[2], e = r[3];
    r[0] = a - c, r[1] = b + c, r[2] = c - b, r[3] = b - e;
  }
}

double direct(const Image& image, const float* weight, int64_t h, int64_t w) {
  double sum = 0.0;
  for (int64_t k = 0; k < image.depth; ++k)
    for (int64_t r = 0; r < 3; ++r)
      for (int64_t s = 0; s < 3; ++s) {
        const int64_t i = h + r - 1, j = w + s - 1;
        if (i >= 0 && j >= 0 && i < image.H && j < image.W) sum += weight[(k * 3 + r) * 3 + s] * image.at(k, i, j);
      }
  return sum;
}

void tile(const Image& image, const float* weight, const double* u, float* y, int64_t h, int64_t w) {
  double m[16] = {};
  for (int64_t k = 0; k < image.depth; ++k) {
    double d[4][4];
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) d[i][j] = image.at(k, h + i - 1, w + j - 1);
    turn_input(d);
    for (int t = 0; t < 16; ++t) m[t] += u[k * 16 + t] * d[t / 4][t % 4];
  }
  double half[2][4];
  for (int j = 0; j < 4; ++j) {
    half[0][j] = m[j] + m[4 + j] + m[8 + j];
    half[1][j] = m[4 + j] - m[8 + j] - m[12 + j];
  }
  for (int i = 0; i < 2; ++i) {
    const double out[2] = {half[i][0] + half[i][1] + half[i][2], half[i][1] - half[i][2] - half[i][3]};
    for (int j = 0; j < 2; ++j)
      if (h + i < image.H && w + j < image.W)
        y[(h + i) * image.W + w + j] =
            static_cast<float>(std::isfinite(out[j]) ? out[j] : direct(image, weight, h + i, w + j));
  }
}

}  // namespace

extern "C" int group_conv(const float* x, const float* weight, float* y, int64_t N, int64_t C, int64_t H, int64_t W,
                          int64_t G) {
  const int64_t depth = C / G;
  std::vector<double> turned(C * depth * 16);
#pragma omp parallel
  {
#pragma omp for
    for (int64_t at = 0; at < C * depth; ++at) turn_weights(weight + at * 9, turned.data() + at * 16);
#pragma omp for
    for (int64_t p = 0; p < N * C; ++p) {
      const int64_t c = p % C;
      const Image image = {x + (p - c + c / depth * depth) * H * W, H, W, depth};
      for (int64_t h = 0; h < H; h += 2)
        for (int64_t w = 0; w < W; w += 2)
          tile(image, weight + c * depth * 9, turned.data() + c * depth * 16, y + p * H * W, h, w);
    }
  }
  return 0;
}
