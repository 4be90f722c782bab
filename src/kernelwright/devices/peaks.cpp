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

static void copy_plain(const char* source, char* target, int64_t bytes) {
  std::memcpy(target, source, bytes);
}

static void copy_streaming(const char* source, char* target, int64_t bytes) {
#if defined(__SSE2__)
  const __m128i* from = reinterpret_cast<const __m128i*>(source);
  __m128i* to = reinterpret_cast<__m128i*>(target);
  for (int64_t i = 0; i < bytes / 16; ++i) _mm_stream_si128(to + i, _mm_load_si128(from + i));
  _mm_sfence();
#else
  std::memcpy(target, source, bytes);
#endif
}

static void copy_vectors(const char* source, char* target, int64_t bytes) {
  const Lane* from = reinterpret_cast<const Lane*>(source);
  Lane* to = reinterpret_cast<Lane*>(target);
  for (int64_t i = 0; i < bytes / int64_t(sizeof(Lane)); ++i) to[i] = from[i];
}

// Seconds of one copy of `bytes` (a multiple of 4096) split over all threads.
extern "C" double copy_seconds(const char* source, char* target, int64_t bytes, int kind) {
  const int64_t pages = bytes / 4096;
  const double start = now();
#pragma omp parallel for schedule(static)
  for (int64_t part = 0; part < 64; ++part) {
    const int64_t begin = pages * part / 64 * 4096, end = pages * (part + 1) / 64 * 4096;
    if (kind == 0) copy_plain(source + begin, target + begin, end - begin);
    if (kind == 1) copy_streaming(source + begin, target + begin, end - begin);
    if (kind == 2) copy_vectors(source + begin, target + begin, end - begin);
  }
  return now() - start;
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
