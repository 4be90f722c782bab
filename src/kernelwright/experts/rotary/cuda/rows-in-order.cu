// /// kernelwright
// strategy = "rows in order: every thread turns pairs of vectors in the order of memory and looks their angles up in the cache"
// tune.THREADS = [256, 128, 512]
// tune.PAIRS = [2, 1, 4]
// cures = ["memory bandwidth"]
// ///
// PAIRS: of vectors that a thread turns.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#ifndef DTYPE_T
#define DTYPE_T __nv_bfloat16
#endif

namespace {
using T = DTYPE_T;
constexpr int LANES = 16 / sizeof(T);  // elements of a 16-byte vector

template <class U>
__device__ inline float widen(U x) {
  if constexpr (std::is_same_v<U, __half>) return __half2float(x);
  else if constexpr (std::is_same_v<U, __nv_bfloat16>) return __bfloat162float(x);
  else return x;
}

template <class U>
__device__ inline U narrow(float x) {
  if constexpr (std::is_same_v<U, __half>) return __float2half_rn(x);
  else if constexpr (std::is_same_v<U, __nv_bfloat16>) return __float2bfloat16_rn(x);
  else return x;
}

// The elements of a 16-byte vector, and back.
template <class U = T>
__device__ inline void unpack(const uint4& raw, float (&f)[16 / sizeof(U)]) {
  const uint32_t word[4] = {raw.x, raw.y, raw.z, raw.w};
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    float2 two = make_float2(__uint_as_float(word[w] << 16), __uint_as_float(word[w] & 0xffff0000u));
    if constexpr (std::is_same_v<U, __half>) two = __half22float2(reinterpret_cast<const __half2&>(word[w]));
    if constexpr (std::is_same_v<U, float>) f[w] = __uint_as_float(word[w]);
    else f[2 * w] = two.x, f[2 * w + 1] = two.y;
  }
}

template <class U = T>
__device__ inline uint4 pack(const float (&f)[16 / sizeof(U)]) {
  if constexpr (std::is_same_v<U, float>) {
    return make_uint4(__float_as_uint(f[0]), __float_as_uint(f[1]), __float_as_uint(f[2]), __float_as_uint(f[3]));
  } else {
    using Two = std::conditional_t<std::is_same_v<U, __half>, __half2, __nv_bfloat162>;
    uint4 raw;
    Two* two = reinterpret_cast<Two*>(&raw);
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      if constexpr (std::is_same_v<U, __half>) two[w] = __floats2half2_rn(f[2 * w], f[2 * w + 1]);
      else two[w] = __floats2bfloat162_rn(f[2 * w], f[2 * w + 1]);
    }
    return raw;
  }
}

// L neighbours: a 16-byte vector, or one element. What is read once is not worth a place in a cache.
template <int L>
__device__ inline void read(const T* p, float (&f)[L]) {
  if constexpr (L == 1) f[0] = widen(*p);
  else unpack(__ldcs(reinterpret_cast<const uint4*>(p)), f);
}

template <int L>
__device__ inline void write(T* p, const float (&f)[L]) {
  if constexpr (L == 1) *p = narrow<T>(f[0]);
  else __stcs(reinterpret_cast<uint4*>(p), pack(f));
}

template <int L>
__device__ inline void look_up(const T* p, float (&f)[L]) {
  if constexpr (L == 1) f[0] = widen(*p);
  else unpack(__ldg(reinterpret_cast<const uint4*>(p)), f);
}

// Turns L pairs of the first and the second half of a row, in place.
template <int L>
__device__ inline void turn(float (&first)[L], float (&second)[L], const float (&c)[L], const float (&s)[L]) {
#pragma unroll
  for (int l = 0; l < L; ++l) {
    const float a = first[l], b = second[l];
    first[l] = a * c[l] - b * s[l];
    second[l] = b * c[l] + a * s[l];
  }
}

template <int L>
__global__ void __launch_bounds__(THREADS)
    rotated(const T* __restrict__ x, const T* __restrict__ cos, const T* __restrict__ sin, T* __restrict__ y,
            int64_t pairs, int64_t S, int half) {
  const int each = half / L;  // pairs of vectors a row
  const int64_t begin = static_cast<int64_t>(blockIdx.x) * PAIRS * THREADS + threadIdx.x;
  float first[PAIRS][L], second[PAIRS][L], c[L], s[L];
#pragma unroll
  for (int p = 0; p < PAIRS; ++p) {
    const int64_t pair = min(begin + p * THREADS, pairs - 1);  // one beyond the last is read for nothing
    const T* in = x + pair / each * 2 * half + pair % each * L;
    read<L>(in, first[p]), read<L>(in + half, second[p]);
  }
#pragma unroll
  for (int p = 0; p < PAIRS; ++p) {
    const int64_t pair = begin + p * THREADS;
    if (pair >= pairs) return;
    const int64_t row = pair / each, angle = row % S * half + pair % each * L;
    look_up<L>(cos + angle, c), look_up<L>(sin + angle, s);
    turn(first[p], second[p], c, s);
    T* out = y + row * 2 * half + pair % each * L;
    write<L>(out, first[p]), write<L>(out + half, second[p]);
  }
}

template <int L>
void launch(const T* x, const T* cos, const T* sin, T* y, int64_t rows, int64_t S, int64_t half, cudaStream_t stream) {
  const int64_t pairs = rows * (half / L), blocks = (pairs + PAIRS * THREADS - 1) / (PAIRS * THREADS);
  rotated<L><<<static_cast<unsigned>(blocks), THREADS, 0, stream>>>(x, cos, sin, y, pairs, S, static_cast<int>(half));
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int rotary(const T* x, const T* cos, const T* sin, T* y, int64_t B, int64_t H, int64_t S, int64_t D,
                      cudaStream_t stream) {
  if (B * H * S * (D / 2) <= 0) return cudaSuccess;
  if (D % (2 * LANES) == 0 && aligned(x) && aligned(cos) && aligned(sin) && aligned(y))
    launch<LANES>(x, cos, sin, y, B * H * S, S, D / 2, stream);
  else launch<1>(x, cos, sin, y, B * H * S, S, D / 2, stream);
  return cudaGetLastError();
}
