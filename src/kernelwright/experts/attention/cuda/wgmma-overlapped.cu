// /// kernelwright
// strategy = "wgmma-overlapped: two threads copy keys and values in, two or three warpgroups take turns at multiplying, each applies softmax to the next scores while its values are still being added"
// tune.BN = [128, 160, 64]
// tune.STAGES = [2, 3, 4]
// tune.GROUPS = [3, 2]
// tune.TURNS = [1, 0]
// tune.EARLY = [0, 1]
// tune.PAIRS = [1, 0]
// tune.BAND = [24, 12, 40]
// where = ["GROUPS * D <= 256", "(GROUPS - 2) * 1024 <= S", "BN * GROUPS <= 400", "BN * STAGES * D * 4 + 256 * GROUPS * D <= 231000"]
// cures = ["compute", "memory latency"]
// ///
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <climits>
#include <cmath>
#include <cstdint>
#include <type_traits>

#ifndef DTYPE_T
#define DTYPE_T __nv_bfloat16
#endif

namespace {

template <typename T>
__device__ __forceinline__ float wide(T v) {
  return static_cast<float>(v);
}
template <typename T>
__device__ __forceinline__ T narrow(float v) {
  if constexpr (std::is_same_v<T, float>) return v;
  else if constexpr (std::is_same_v<T, __half>) return __float2half_rn(v);
  else return __float2bfloat16_rn(v);
}
template <typename T>
__device__ __forceinline__ uint32_t pack(float low, float high) {
  if constexpr (std::is_same_v<T, __half>) {
    const __half2 v = __floats2half2_rn(low, high);
    return reinterpret_cast<const uint32_t&>(v);
  } else {
    const __nv_bfloat162 v = __floats2bfloat162_rn(low, high);
    return reinterpret_cast<const uint32_t&>(v);
  }
}
__device__ __forceinline__ float power(float v) {
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(v));
  return out;
}

// Any type, any depth: a warp for each query, 32 keys at a time, 256 columns at a time.
template <typename T>
__global__ void __launch_bounds__(128)
    plain(const T* q, const T* k, const T* v, T* o, int causal, int64_t rows, int64_t S, int64_t D) {
  const int64_t row = static_cast<int64_t>(blockIdx.x) * 4 + threadIdx.x / 32;
  if (row >= rows) return;
  const int lane = threadIdx.x % 32;
  const int64_t head = row / S * S * D, limit = causal ? row % S + 1 : S;
  const float scale = rsqrtf(static_cast<float>(D)) * 1.4426950408889634f;
  for (int64_t c = 0; c < D; c += 256) {
    float top = -INFINITY, total = 0.0f, sum[8] = {};
    for (int64_t j = 0; j < limit; j += 32) {
      float score = -INFINITY;
      if (j + lane < limit) {
        score = 0.0f;
        for (int64_t d = 0; d < D; ++d) score += wide(q[row * D + d]) * wide(k[head + (j + lane) * D + d]);
      }
      float next = score;
      for (int step = 16; step; step /= 2) next = fmaxf(next, __shfl_xor_sync(~0u, next, step));
      next = fmaxf(top, next);
      const float base = next == -INFINITY ? 0.0f : next * scale;
      const float keep = power(top * scale - base), weight = power(score * scale - base);
      top = next;
      total = total * keep + weight;
      for (int i = 0; i < 8; ++i) sum[i] *= keep;
      for (int t = 0; t < 32 && j + t < limit; ++t) {
        const float w = __shfl_sync(~0u, weight, t);
        for (int i = 0; i < 8; ++i)
          if (c + lane + 32 * i < D) sum[i] += w * wide(v[head + (j + t) * D + c + lane + 32 * i]);
      }
    }
    for (int step = 16; step; step /= 2) total += __shfl_xor_sync(~0u, total, step);
    for (int i = 0; i < 8; ++i)
      if (c + lane + 32 * i < D) o[row * D + c + lane + 32 * i] = narrow<T>(sum[i] / total);
  }
}

__device__ __forceinline__ uint32_t shared(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void ready_after(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
__device__ __forceinline__ void expect(uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(uint32_t barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra.uni over;\nbra.uni again;\nover:\n}" ::"r"(
          barrier),
      "r"(parity)
      : "memory");
}
__device__ __forceinline__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// A map is read through a cache of its own, which starts empty.
__device__ __forceinline__ void announce(const CUtensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
__device__ __forceinline__ void fetch(uint32_t to, const CUtensorMap* map, int x, int y, int z, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::
          "r"(to),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(barrier)
      : "memory");
}
__device__ __forceinline__ void store(const CUtensorMap* map, int x, int y, int z, uint32_t from) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(x),
               "r"(y), "r"(z), "r"(from)
               : "memory");
}
__device__ __forceinline__ void together(int barrier) { asm volatile("bar.sync %0, 128;" ::"r"(barrier) : "memory"); }
__device__ __forceinline__ void take_turn(int part) {
  if (TURNS) asm volatile("bar.sync %0, 256;" ::"r"(4 + part) : "memory");
}
__device__ __forceinline__ void pass_turn(int part, int parts) {
  if (TURNS) asm volatile("bar.arrive %0, 256;" ::"r"(part + 1 < parts ? 5 + part : 4) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int LEFT>
__device__ __forceinline__ void finish() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}
// Keeps the compiler from moving what reads or writes these registers across.
template <int SIZE>
__device__ __forceinline__ void hold(float (&d)[SIZE]) {
#pragma unroll
  for (int i = 0; i < SIZE; ++i) asm volatile("" : "+f"(d[i])::"memory");
}
template <int SIZE>
__device__ __forceinline__ void hold(uint32_t (&d)[SIZE]) {
#pragma unroll
  for (int i = 0; i < SIZE; ++i) asm volatile("" : "+r"(d[i])::"memory");
}

// Descriptor of an operand whose rows of 128 bytes are swizzled; `leading` only counts for columns of values.
__device__ __forceinline__ uint64_t operand(uint32_t address, int leading) {
  return (uint64_t{1} << 62) | (uint64_t{1024 >> 4} << 32) | (static_cast<uint64_t>(leading >> 4) << 16) |
         ((address & 0x3FFFF) >> 4);
}

#define F4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define F16(i) F4(i), F4(i + 4), F4(i + 8), F4(i + 12)
#define LIST32                                                                                             \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27," \
  "%28,%29,%30,%31"
#define LIST64                                                                                           \
  LIST32                                                                                                 \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56," \
  "%57,%58,%59,%60,%61,%62,%63"
#define LIST80 LIST64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define SCORES(N, LIST, A, B, P, TYPE, REGISTERS)                                                        \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " P ", 0;\nwgmma.mma_async.sync.aligned.m64n" N         \
               "k16.f32." TYPE "." TYPE " {" LIST "}, " A ", " B ", p, 1, 1, 0, 0;\n}"                   \
               : REGISTERS                                                                               \
               : "l"(a), "l"(b), "r"(add))
#define VALUES(N, LIST, A, B, P, TYPE, REGISTERS)                                                        \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " P ", 0;\nwgmma.mma_async.sync.aligned.m64n" N         \
               "k16.f32." TYPE "." TYPE " {" LIST "}, {" A "}, " B ", p, 1, 1, 1;\n}"                    \
               : REGISTERS                                                                               \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add))
#define R32 F16(0), F16(16)
#define R64 R32, F16(32), F16(48)
#define R80 R64, F16(64)

template <typename T, int SIZE>
__device__ __forceinline__ void scores(float (&d)[SIZE], uint64_t a, uint64_t b, int add) {
  constexpr bool HALF = std::is_same_v<T, __half>;
  if constexpr (SIZE == 32 && HALF) SCORES("64", LIST32, "%32", "%33", "%34", "f16", R32);
  else if constexpr (SIZE == 32) SCORES("64", LIST32, "%32", "%33", "%34", "bf16", R32);
  else if constexpr (SIZE == 64 && HALF) SCORES("128", LIST64, "%64", "%65", "%66", "f16", R64);
  else if constexpr (SIZE == 64) SCORES("128", LIST64, "%64", "%65", "%66", "bf16", R64);
  else if constexpr (HALF) SCORES("160", LIST80, "%80", "%81", "%82", "f16", R80);
  else SCORES("160", LIST80, "%80", "%81", "%82", "bf16", R80);
}
template <typename T, int SIZE>
__device__ __forceinline__ void values(float (&d)[SIZE], const uint32_t* a, uint64_t b, int add) {
  constexpr bool HALF = std::is_same_v<T, __half>;
  if constexpr (SIZE == 32 && HALF) VALUES("64", LIST32, "%32,%33,%34,%35", "%36", "%37", "f16", R32);
  else if constexpr (SIZE == 32) VALUES("64", LIST32, "%32,%33,%34,%35", "%36", "%37", "bf16", R32);
  else if constexpr (HALF) VALUES("128", LIST64, "%64,%65,%66,%67", "%68", "%69", "f16", R64);
  else VALUES("128", LIST64, "%64,%65,%66,%67", "%68", "%69", "bf16", R64);
}

// Heads come in bands whose keys and values fit the cache. If causal, a tile of many keys and one of few are one piece
// of work, so that all pieces are equal; or else tiles of many keys come first and are dealt forth and back.
struct Order {
  int tall, heads, band, causal, S;
  template <typename Do>
  __device__ __forceinline__ void each(int high, Do work) const {
    const bool pairs = PAIRS && causal;
    const int pieces = pairs ? (tall + 1) / 2 : tall, size = gridDim.x, here = blockIdx.x;
    for (int round = 0; round * size < pieces * heads; ++round) {
      const int piece = round * size + (round % 2 && !pairs ? size - 1 - here : here);
      if (piece >= pieces * heads) continue;
      const int first = piece / (band * pieces) * band, width = min(band, heads - first), rest = piece - first * pieces;
      const int light = pairs ? rest / width : tall - 1 - rest / width;
#pragma unroll 1
      for (int tile = pairs ? tall - 1 - light : light; tile >= light; tile -= max(1, tile - light)) {
        const int row = tile * high;
        work(row, first + rest % width, (min(S, causal ? row + high : S) + BN - 1) / BN);
      }
    }
  }
};

// Scores become weights; returns nothing but keeps each row's maximum and sum and says what to keep of before.
__device__ __forceinline__ void soften(float (&s)[BN / 2], float (&top)[2], float (&total)[2], float (&keep)[2],
                                       float scale) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float next = top[r];
#pragma unroll
    for (int i = 0; i < BN / 8; ++i) next = fmaxf(next, fmaxf(s[i * 4 + r * 2], s[i * 4 + r * 2 + 1]));
    next = fmaxf(next, __shfl_xor_sync(~0u, next, 1));
    next = fmaxf(next, __shfl_xor_sync(~0u, next, 2));
    const float base = next == -INFINITY ? 0.0f : next * scale;
    keep[r] = power(top[r] * scale - base);
    top[r] = next;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < BN / 8; ++i) {
      s[i * 4 + r * 2] = power(s[i * 4 + r * 2] * scale - base);
      s[i * 4 + r * 2 + 1] = power(s[i * 4 + r * 2 + 1] * scale - base);
      sum += s[i * 4 + r * 2] + s[i * 4 + r * 2 + 1];
    }
    total[r] = total[r] * keep[r] + sum;
  }
}

__device__ __forceinline__ void mask(float (&s)[BN / 2], int column, int row, const Order& order) {
  const int limit = order.causal ? min(order.S, row + 1) : order.S;
  const int limit8 = order.causal ? min(order.S, row + 9) : order.S;
#pragma unroll
  for (int i = 0; i < BN / 8; ++i) {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      if (column + i * 8 + c >= limit) s[i * 4 + c] = -INFINITY;
      if (column + i * 8 + c >= limit8) s[i * 4 + 2 + c] = -INFINITY;
    }
  }
}

template <int D>
struct Layout {
  static constexpr int PARTS = D > 64 ? 2 : GROUPS, BM = 64 * PARTS, THREADS = 128 * (PARTS + 1);
  static constexpr int Q = BM * D * 2, KV = BN * D * 2;
  static constexpr int K_AT = 2 * Q, V_AT = K_AT + STAGES * KV, BARRIERS = V_AT + STAGES * KV;
  static constexpr int SHARED = BARRIERS + 8 * (2 + 4 * STAGES) + 1024;
};

template <typename T, int D>
__global__ void __launch_bounds__(Layout<D>::THREADS, 1)
    tiles(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
          const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map, Order order,
          float scale) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using L = Layout<D>;
  extern __shared__ uint8_t raw[];
  const uint32_t q_at = (shared(raw) + 1023) & ~1023u, o_at = q_at + L::Q;
  const uint32_t k_at = q_at + L::K_AT, v_at = q_at + L::V_AT;
  const uint32_t q_full = q_at + L::BARRIERS, q_empty = q_full + 8, k_full = q_empty + 8, k_empty = k_full + 8 * STAGES;
  const uint32_t v_full = k_empty + 8 * STAGES, v_empty = v_full + 8 * STAGES;
  const int group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    announce(&q_map);
    announce(&k_map);
    announce(&v_map);
    announce(&o_map);
    ready_after(q_full, 1);
    ready_after(q_empty, 4 * L::PARTS);
    for (int s = 0; s < STAGES; ++s) {
      ready_after(k_full + 8 * s, 1);
      ready_after(k_empty + 8 * s, 4 * L::PARTS);
      ready_after(v_full + 8 * s, 1);
      ready_after(v_empty + 8 * s, 4 * L::PARTS);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(L::PARTS == 2 ? 40 : 32));
    if (threadIdx.x == 0) {
      int stage = 0, parity = 0, q_parity = 0;
      order.each(L::BM, [&](int row, int head, int blocks) {
        wait(q_empty, q_parity ^ 1);
        q_parity ^= 1;
        expect(q_full, L::Q);
        for (int i = 0; i < L::PARTS * D / 64; ++i)
          fetch(q_at + i * 8192, &q_map, i % (D / 64) * 64, row + i / (D / 64) * 64, head, q_full);
        for (int j = blocks - 1; j >= 0; --j) {
          wait(k_empty + 8 * stage, parity ^ 1);
          expect(k_full + 8 * stage, L::KV);
          for (int i = 0; i < D / 64; ++i)
            fetch(k_at + stage * L::KV + i * (BN * 128), &k_map, i * 64, j * BN, head, k_full + 8 * stage);
          if (++stage == STAGES) stage = 0, parity ^= 1;
        }
      });
    } else if (threadIdx.x == 32) {
      int stage = 0, parity = 0;
      order.each(L::BM, [&](int, int head, int blocks) {
        for (int j = blocks - 1; j >= 0; --j) {
          wait(v_empty + 8 * stage, parity ^ 1);
          expect(v_full + 8 * stage, L::KV);
          for (int i = 0; i < D / 64; ++i)
            fetch(v_at + stage * L::KV + i * (BN * 128), &v_map, i * 64, j * BN, head, v_full + 8 * stage);
          if (++stage == STAGES) stage = 0, parity ^= 1;
        }
      });
    }
    __syncwarp();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(L::PARTS == 2 ? 232 : 160));
    const int part = group - 1, lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const uint32_t q_mine = q_at + part * (64 * D * 2), o_mine = o_at + part * (64 * D * 2);
    const uint32_t line = o_mine + (warp * 16 + lane % 16) * 128;
    int stage = 0, parity = 0, q_parity = 0;
    float s[BN / 2], o[D / 2], top[2], total[2], keep[2];
    uint32_t p[BN / 4];
    if (part == L::PARTS - 1) pass_turn(part, L::PARTS);
    order.each(L::BM, [&](int row, int head, int blocks) {
      const int mine = row + part * 64 + warp * 16 + lane / 4;
      int j = blocks - 1;
      const auto begin_scores = [&] {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int step = 0; step < D / 16; ++step)
          scores<T>(s, operand(q_mine + step / 4 * 8192, 0) + step % 4 * 2,
                    operand(k_at + stage * L::KV + step / 4 * (BN * 128), 0) + step % 4 * 2, step > 0);
        commit();
      };
      const auto begin_values = [&](int from, int add) {
        const uint64_t b = operand(v_at + from * L::KV, BN * 128);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int step = 0; step < BN / 16; ++step)
          values<T>(o, p + step * 4, b + step * (2048 >> 4), add || step > 0);
        commit();
      };
      const auto hide = [&] {
        if ((order.causal && (j + 1) * BN - 1 > row + part * 64) || (j + 1) * BN > order.S)
          mask(s, j * BN + lane % 4 * 2, mine, order);
      };
      const auto to_weights = [&] {
#pragma unroll
        for (int i = 0; i < BN / 4; ++i) p[i] = pack<T>(s[i * 2], s[i * 2 + 1]);
      };
      top[0] = top[1] = -INFINITY;
      total[0] = total[1] = 0.0f;
#pragma unroll
      for (int i = 0; i < D / 2; ++i) o[i] = 0.0f;
      wait(q_full, q_parity);
      q_parity ^= 1;
      wait(k_full + 8 * stage, parity);
      begin_scores();
      finish<0>();
      hold(s);
      if (lane == 0) arrive(k_empty + 8 * stage);
      hide();
      soften(s, top, total, keep, scale);
      int before = -1;
      // Unless the values are waited for early, before softmax, it is at the head of the loop: within a block, the
      // assembler would move the wait up anyway.
      for (;;) {
        if (!EARLY) {
          finish<0>();
          hold(o);
          hold(p);
          if (before >= 0 && lane == 0) arrive(v_empty + 8 * before);
        }
#pragma unroll
        for (int i = 0; i < D / 2; ++i) o[i] *= keep[i / 2 % 2];
        to_weights();
        if (--j < 0) break;
        const int parity_before = parity;
        before = stage;
        if (++stage == STAGES) stage = 0, parity ^= 1;
        wait(k_full + 8 * stage, parity);
        take_turn(part);
        begin_scores();
        wait(v_full + 8 * before, parity_before);
        begin_values(before, 1);
        pass_turn(part, L::PARTS);
        finish<1>();
        hold(s);
        if (lane == 0) arrive(k_empty + 8 * stage);
        if (EARLY) {
          finish<0>();
          hold(o);
          hold(p);
          if (lane == 0) arrive(v_empty + 8 * before);
        }
        hide();
        soften(s, top, total, keep, scale);
      }
      if (lane == 0) arrive(q_empty);
      wait(v_full + 8 * stage, parity);
      begin_values(stage, 1);
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        total[r] += __shfl_xor_sync(~0u, total[r], 1);
        total[r] += __shfl_xor_sync(~0u, total[r], 2);
        keep[r] = 1.0f / total[r];
      }
      finish<0>();
      hold(o);
      hold(p);
      if (lane == 0) arrive(v_empty + 8 * stage);
      if (++stage == STAGES) stage = 0, parity ^= 1;
      if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      together(1 + part);
#pragma unroll
      for (int i = 0; i < D / 16; ++i) {
        const float* v = o + i * 8;
        const uint32_t to = line + i / 4 * 8192 + (((i % 4 * 2 + lane / 16) ^ (lane % 8)) << 4);
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                     "r"(pack<T>(v[0] * keep[0], v[1] * keep[0])), "r"(pack<T>(v[2] * keep[1], v[3] * keep[1])),
                     "r"(pack<T>(v[4] * keep[0], v[5] * keep[0])), "r"(pack<T>(v[6] * keep[1], v[7] * keep[1]))
                     : "memory");
      }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      together(1 + part);
      if (threadIdx.x % 128 == 0) {
        for (int i = 0; i < D / 64; ++i) store(&o_map, i * 64, row + part * 64, head, o_mine + i * 8192);
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      }
    });
    if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
#endif
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                            const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                            CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

Encode encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result) !=
          cudaSuccess ||
      result != cudaDriverEntryPointSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  return reinterpret_cast<Encode>(found);
}

// Heads of S rows of D 16-bit numbers, met in boxes of `high` rows of 64; no box reaches into the next head.
template <typename T>
bool describe(Encode encode, CUtensorMap* map, const void* data, int64_t heads, int64_t S, int64_t D, int high) {
  const cuuint64_t sizes[3] = {static_cast<cuuint64_t>(D), static_cast<cuuint64_t>(S), static_cast<cuuint64_t>(heads)};
  const cuuint64_t pitch[2] = {static_cast<cuuint64_t>(D * 2), static_cast<cuuint64_t>(S * D * 2)};
  const cuuint32_t box[3] = {64, static_cast<cuuint32_t>(high), 1}, ones[3] = {1, 1, 1};
  return encode(map,
                std::is_same_v<T, __half> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3,
                const_cast<void*>(data), sizes, pitch, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

template <typename T, int D>
int launch(Encode encode, const T* q, const T* k, const T* v, T* o, int causal, int64_t heads, int64_t S, int cores,
           cudaStream_t stream) {
  CUtensorMap q_map, k_map, v_map, o_map;
  if (!describe<T>(encode, &q_map, q, heads, S, D, 64) || !describe<T>(encode, &k_map, k, heads, S, D, BN) ||
      !describe<T>(encode, &v_map, v, heads, S, D, BN) || !describe<T>(encode, &o_map, o, heads, S, D, 64))
    return cudaErrorInvalidValue;
  using L = Layout<D>;
  const cudaError_t problem =
      cudaFuncSetAttribute(tiles<T, D>, cudaFuncAttributeMaxDynamicSharedMemorySize, L::SHARED);
  if (problem != cudaSuccess) return problem;
  const int64_t tall = (S + L::BM - 1) / L::BM, fitting = (int64_t{BAND} << 20) / (4 * S * D);
  const int64_t band = fitting < 1 ? 1 : fitting < heads ? fitting : heads;
  const Order order = {static_cast<int>(tall), static_cast<int>(heads), static_cast<int>(band), causal != 0,
                       static_cast<int>(S)};
  const float scale = 1.4426950408889634f / std::sqrt(static_cast<float>(D));
  const int64_t pieces = (PAIRS && causal ? (tall + 1) / 2 : tall) * heads;
  tiles<T, D><<<static_cast<unsigned>(pieces < cores ? pieces : cores), L::THREADS, L::SHARED, stream>>>(
      q_map, k_map, v_map, o_map, order, scale);
  return cudaGetLastError();
}

template <typename T>
int attend(const T* q, const T* k, const T* v, T* o, int causal, int64_t B, int64_t H, int64_t S, int64_t D,
           cudaStream_t stream) {
  const int64_t rows = B * H * S;
  if (rows == 0 || D == 0) return 0;
  if constexpr (sizeof(T) == 2) {
    const bool aligned = (reinterpret_cast<uintptr_t>(q) | reinterpret_cast<uintptr_t>(k) |
                          reinterpret_cast<uintptr_t>(v) | reinterpret_cast<uintptr_t>(o)) % 16 == 0;
    int device = 0, major = 0, cores = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device);
    if (major == 9 && aligned && rows < INT_MAX / 2 && (D == 64 || D == 128)) {
      if (const Encode encode = encoder()) {
        if (D == 64) return launch<T, 64>(encode, q, k, v, o, causal, B * H, S, cores, stream);
        return launch<T, 128>(encode, q, k, v, o, causal, B * H, S, cores, stream);
      }
    }
  }
  plain<T><<<static_cast<unsigned>((rows + 3) / 4), 128, 0, stream>>>(q, k, v, o, causal, rows, S, D);
  return cudaGetLastError();
}

}  // namespace

extern "C" int attention(const DTYPE_T* q, const DTYPE_T* k, const DTYPE_T* v, DTYPE_T* o, int32_t causal, int64_t B,
                         int64_t H, int64_t S, int64_t D, cudaStream_t stream) {
  return attend<DTYPE_T>(q, k, v, o, causal, B, H, S, D, stream);
}
