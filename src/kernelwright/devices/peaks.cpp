// What this processor can do at most: copy bandwidth, multiply-add rate, cache that matters.
// Trusted code, built by the same toolchain as candidates and called in the verifier.
#include <chrono>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
constexpr int64_t WIDTH = 16;
#elif defined(__AVX__)
constexpr int64_t WIDTH = 8;
#else
constexpr int64_t WIDTH = 4;
#endif
typedef float Lane __attribute__((vector_size(WIDTH * 4)));

static double now() {
  using clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

extern "C" double read_seconds(const char* source, int64_t bytes, float* sum);

// The next three follow the contract of a candidate, so that they are timed as candidates are.
extern "C" int copy_plain(const float* x, float* y, int64_t N) {
#pragma omp parallel for schedule(static)
  for (int64_t part = 0; part < 64; ++part) {
    const int64_t begin = N * part / 64, end = N * (part + 1) / 64;
    std::memcpy(y + begin, x + begin, (end - begin) * sizeof(float));
  }
  return 0;
}

extern "C" int copy_streaming(const float* x, float* y, int64_t N) {
#if defined(__SSE2__)
  const Lane* from = reinterpret_cast<const Lane*>(x);
  const int64_t lanes = N / WIDTH;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < lanes; ++i) {
#if defined(__AVX512F__)
    _mm512_stream_ps(y + i * WIDTH, reinterpret_cast<__m512>(from[i]));
#elif defined(__AVX__)
    _mm256_stream_ps(y + i * WIDTH, reinterpret_cast<__m256>(from[i]));
#else
    _mm_stream_ps(y + i * WIDTH, reinterpret_cast<__m128>(from[i]));
#endif
  }
  _mm_sfence();
  return 0;
#else
  return copy_plain(x, y, N);
#endif
}

extern "C" int read_all(const float* x, float* y, int64_t N) {
  return read_seconds(reinterpret_cast<const char*>(x), N * int64_t(sizeof(float)), y) < 0;
}

// Seconds in which all threads together read `bytes`; the sum keeps the loads alive.
extern "C" double read_seconds(const char* source, int64_t bytes, float* sum) {
  const int64_t lanes = bytes / int64_t(sizeof(Lane));
  const Lane* from = reinterpret_cast<const Lane*>(source);
  float total = 0;
  const double start = now();
#pragma omp parallel reduction(+ : total)
  {
    Lane a{}, b{}, c{}, d{};
#pragma omp for schedule(static)
    for (int64_t i = 0; i < lanes / 4; ++i) {
      a += from[4 * i];
      b += from[4 * i + 1];
      c += from[4 * i + 2];
      d += from[4 * i + 3];
    }
    const Lane all = a + b + c + d;
    for (int64_t i = 0; i < WIDTH; ++i) total += all[i];
  }
  const double spent = now() - start;
  *sum = total;
  return spent;
}

// Seconds in which every thread does `rounds` * 12 * WIDTH multiply-adds in float32.
extern "C" double rate_seconds(int64_t rounds, float* sink, int* threads) {
  int used = 0;
  float total = 0;
  const double start = now();
#pragma omp parallel reduction(+ : total) reduction(+ : used)
  {
    used += 1;
    Lane x[12], m, s;
    for (int64_t i = 0; i < WIDTH; ++i) m[i] = 0.999f, s[i] = 1e-3f;
    for (int k = 0; k < 12; ++k) x[k] = m * float(k);
    for (int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 12
      for (int k = 0; k < 12; ++k) x[k] = x[k] * m + s;
    for (int k = 0; k < 12; ++k)
      for (int64_t i = 0; i < WIDTH; ++i) total += x[k][i];
  }
  const double spent = now() - start;
  *sink = total;
  *threads = used;
  return spent;
}

extern "C" int64_t lanes() { return WIDTH; }
