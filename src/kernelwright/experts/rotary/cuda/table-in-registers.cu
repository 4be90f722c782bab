// /// kernelwright
// strategy = "table in registers: a thread keeps the angles of one place and turns it in one head after the other"
// tune.THREADS = [256, 128, 512]
// tune.HEADS = [4, 8, 2, 16]
// tune.UNROLL = [4, 2, 1]
// tune.STREAM = [1, 0]
// cures = ["repeated reads of the angles", "index arithmetic"]
// ///
// HEADS: heads of all batches that a thread turns. UNROLL: of them at a time.
// STREAM: 1 to let what is read and written leave the caches first.
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

__device__ inline uint4 load(const uint4* p) { return STREAM ? __ldcs(p) : __ldg(p); }

__device__ inline void store(uint4* p, const uint4& v) {
  if (STREAM) __stcs(p, v);
  else *p = v;
}

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
  else unpack(load(reinterpret_cast<const uint4*>(p)), f);
}

template <int L>
__device__ inline void write(T* p, const float (&f)[L]) {
  if constexpr (L == 1) *p = narrow<T>(f[0]);
  else store(reinterpret_cast<uint4*>(p), pack(f));
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
            int64_t heads, int64_t S, int half, int64_t blocks) {
  const int each = half / L;  // pairs of vectors a row
  const int64_t pair = blockIdx.x % blocks * THREADS + threadIdx.x, place = pair / each;
  if (place >= S) return;
  const int64_t begin = blockIdx.x / blocks * HEADS, end = min(begin + HEADS, heads);
  const int64_t at = place * 2 * half + pair % each * L, stride = S * 2 * half;
  float c[L], s[L];
  look_up<L>(cos + pair * L, c), look_up<L>(sin + pair * L, s);
  for (int64_t head = begin; head < end; head += UNROLL) {
    float first[UNROLL][L], second[UNROLL][L];
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      const T* in = x + min(head + u, end - 1) * stride + at;  // one beyond the last is read for nothing
      read<L>(in, first[u]), read<L>(in + half, second[u]);
    }
#pragma unroll
    for (int u = 0; u < UNROLL; ++u) {
      if (head + u >= end) return;
      T* out = y + (head + u) * stride + at;
      turn(first[u], second[u], c, s);
      write<L>(out, first[u]), write<L>(out + half, second[u]);
    }
  }
}

template <int L>
void launch(const T* x, const T* cos, const T* sin, T* y, int64_t heads, int64_t S, int64_t half, cudaStream_t stream) {
  const int64_t blocks = (S * (half / L) + THREADS - 1) / THREADS, groups = (heads + HEADS - 1) / HEADS;
  rotated<L><<<static_cast<unsigned>(blocks * groups), THREADS, 0, stream>>>(x, cos, sin, y, heads, S,
                                                                             static_cast<int>(half), blocks);
}

bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }
}  // namespace

extern "C" int rotary(const T* x, const T* cos, const T* sin, T* y, int64_t B, int64_t H, int64_t S, int64_t D,
                      cudaStream_t stream) {
  if (B * H * S * (D / 2) <= 0) return cudaSuccess;
  if (D % (2 * LANES) == 0 && aligned(x) && aligned(cos) && aligned(sin) && aligned(y))
    launch<LANES>(x, cos, sin, y, B * H, S, D / 2, stream);
  else launch<1>(x, cos, sin, y, B * H, S, D / 2, stream);
  return cudaGetLastError();
}
