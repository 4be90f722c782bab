// /// kernelwright
// strategy = "cache-oblivious: the longer side is halved until a small block is left; a contiguous one has its own loop"
// ///
#include <cstdint>

namespace {

struct Plane {
  const float* a;
  int64_t a_row, a_step;
  const float* scale;
  float* y;
  int64_t y_row, y_step;
};

template <bool CONTIGUOUS>
void leaf(const Plane& p, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  const int64_t a_step = CONTIGUOUS ? 1 : p.a_step, y_step = CONTIGUOUS ? 1 : p.y_step;
  for (int64_t j = j0; j < j1; ++j)
    for (int64_t i = i0; i < i1; ++i) p.y[j * p.y_row + i * y_step] = p.a[i * p.a_row + j * a_step] * p.scale[j];
}

void halve(const Plane& p, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  if (i1 - i0 <= 16 && j1 - j0 <= 16) {
    if (p.a_step == 1 && p.y_step == 1) leaf<true>(p, i0, i1, j0, j1);
    else leaf<false>(p, i0, i1, j0, j1);
  } else if (i1 - i0 > j1 - j0) {
    halve(p, i0, (i0 + i1) / 2, j0, j1);
    halve(p, (i0 + i1) / 2, i1, j0, j1);
  } else {
    halve(p, i0, i1, j0, (j0 + j1) / 2);
    halve(p, i0, i1, (j0 + j1) / 2, j1);
  }
}

}  // namespace

extern "C" int turned(const float* a, const int64_t* a_strides, const float* scale, float* y, const int64_t* y_strides,
                      int64_t M, int64_t N) {
  const Plane plane = {a, a_strides[0], a_strides[1], scale, y, y_strides[0], y_strides[1]};
  constexpr int64_t STRIP = 64;
#pragma omp parallel for
  for (int64_t j = 0; j < N; j += STRIP) halve(plane, 0, M, j, N - j < STRIP ? N : j + STRIP);
  return 0;
}
