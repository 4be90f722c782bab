// Device code of the trusted side: fills inputs, poisons outputs, checks answers, holds the queue.
//
// Built by NVRTC, so without any header. A value of an input is a function of (seed, position):
// the checks never read it back from memory that a worker could have changed, they make it again.
// They compare that memory with what it should hold in the same pass ("touched").

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;

// What a check reports; the verifier clears it first.
struct Report {
  u64 wrong;      // elements outside the tolerance, or not finite
  u64 poisoned;   // elements that still hold the poison
  u64 touched;    // input elements that differ from their seed
  u64 outside;    // guard words behind the output that were written
  float worst;    // largest error, in tolerances
  u32 first;      // lowest position that is wrong, 0xffffffff if none
};

__device__ __forceinline__ u32 mix(u32 x) {
  x ^= x >> 16; x *= 0x7feb352du;
  x ^= x >> 15; x *= 0x846ca68bu;
  return x ^ (x >> 16);
}

// Uniform in ±4 with a scale and an offset that depend on the seed.
__device__ __forceinline__ float value_of(u32 seed, u32 position) {
  const u32 own = mix(seed + 0x9e3779b9u);
  const float scale = 2.0f + (own & 0xffff) * (2.0f / 65536.0f);
  const float offset = ((own >> 16) & 0xff) * (1.0f / 256.0f);
  const u32 drawn = mix(position ^ own) >> 8;
  return (drawn * (2.0f / 16777216.0f) - 1.0f) * scale + offset;
}

__device__ __forceinline__ u16 to_bf16(float x) {
  const u32 bits = __float_as_uint(x);
  return (u16)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
__device__ __forceinline__ float from_bf16(u16 x) { return __uint_as_float((u32)x << 16); }

// Notes one element; returns its error, NaN as a huge one. NaN fails the comparison: wrong.
__device__ __forceinline__ float note(Report* report, float error, bool untouched, u32 position) {
  if (untouched) atomicAdd(&report->poisoned, 1ull);
  if (error <= 1.0f) return error;
  atomicAdd(&report->wrong, 1ull);
  atomicMin(&report->first, position);
  return error == error ? error : 3.0e38f;
}

// Positive floats order like their bits.
__device__ __forceinline__ void keep_worst(Report* report, float worst) {
  if (worst > report->worst) atomicMax((int*)&report->worst, __float_as_int(worst));
}

// ---------------------------------------------------------------- contents

extern "C" __global__ void fill_bf16(u16* out, u64 count, u32 seed) {
  const u64 pairs = count / 2, step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += step) {
    const u32 low = to_bf16(value_of(seed, 2 * i)), high = to_bf16(value_of(seed, 2 * i + 1));
    ((u32*)out)[i] = low | high << 16;
  }
}

extern "C" __global__ void fill_f32(float* out, u64 count, u32 seed) {
  const u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    out[i] = value_of(seed, i);
}

extern "C" __global__ void fill_words(u32* out, u64 words, u32 word) {
  const u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < words; i += step) out[i] = word;
}

// ---------------------------------------------------------------- sums over a block

__device__ double block_sum(double x) {
  __shared__ double part[32];
  for (int k = 16; k; k /= 2) x += __shfl_xor_sync(0xffffffffu, x, k);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  double all = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) all += part[w];
  return all;
}

__device__ float block_max(float x) {
  __shared__ float part[32];
  for (int k = 16; k; k /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, k));
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  float all = part[0];
  for (int w = 1; w < blockDim.x / 32; ++w) all = fmaxf(all, part[w]);
  return all;
}

// ---------------------------------------------------------------- checks

// One block a row, at most 8192 columns. The row is made once and kept in shared memory; its
// exponentials and their sum are float64. Tolerance: two bf16 ulps of the exact element.
extern "C" __global__ void check_softmax(
    const u16* input, const u16* output, u32 rows, u32 columns, u32 seed, u16 poison,
    Report* report) {
  __shared__ float row[8192];
  const u64 base = (u64)blockIdx.x * columns;
  float highest = -3.0e38f;
  u32 touched = 0;
  for (u32 c = threadIdx.x; c < columns; c += blockDim.x) {
    const u16 made = to_bf16(value_of(seed, base + c));
    touched += made != input[base + c];
    row[c] = from_bf16(made);
    highest = fmaxf(highest, row[c]);
  }
  highest = block_max(highest);
  double sum = 0;
  for (u32 c = threadIdx.x; c < columns; c += blockDim.x) sum += exp((double)(row[c] - highest));
  sum = block_sum(sum);
  float worst = 0;
  for (u32 c = threadIdx.x; c < columns; c += blockDim.x) {
    const double exact = exp((double)(row[c] - highest)) / sum;
    const u16 got = output[base + c];
    const double error = fabs(from_bf16(got) - exact) / (exact * (1.0 / 64.0));
    worst = fmaxf(worst, note(report, (float)error, got == poison, (u32)(base + c)));
  }
  keep_worst(report, worst);
  if (touched) atomicAdd(&report->touched, (u64)touched);
}

// One block a row. Tolerance: 2^-20 of the sum of magnitudes (a serial float32 sum of 8192
// values stays below it; a bf16 or tf32 sum does not).
extern "C" __global__ void check_row_sum(
    const float* input, const float* output, u32 rows, u32 columns, u32 seed, float poison,
    Report* report) {
  const u64 base = (u64)blockIdx.x * columns;
  double sum = 0, magnitude = 0;
  u32 touched = 0;
  for (u32 c = threadIdx.x; c < columns; c += blockDim.x) {
    const float made = value_of(seed, base + c);
    touched += __float_as_uint(made) != __float_as_uint(input[base + c]);
    sum += made;
    magnitude += fabsf(made);
  }
  sum = block_sum(sum);
  magnitude = block_sum(magnitude);
  if (touched) atomicAdd(&report->touched, (u64)touched);
  if (threadIdx.x) return;
  const float got = output[blockIdx.x];
  const bool untouched = __float_as_uint(got) == __float_as_uint(poison);
  const float error = (float)(fabs(got - sum) / (magnitude / 1048576.0));
  keep_worst(report, note(report, error, untouched, blockIdx.x));
}

// A matrix product is checked at positions drawn after the calls: one warp a position. `input`
// holds both factors, the left one first. Tolerance: 2^-7 of the sum of magnitudes / sqrt(n).
extern "C" __global__ void check_matmul(
    const u16* input, const u16* output, u32 n, u32 places, u32 seed, u16 poison,
    Report* report, u32 draw) {
  const u32 place = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (place >= places) return;
  const u32 row = mix(draw + 2 * place) % n, column = mix(draw + 2 * place + 1) % n;
  const u64 second = (u64)n * n;
  double sum = 0, squares = 0;
  u32 touched = 0;
  for (u32 k = lane; k < n; k += 32) {
    const u64 left = (u64)row * n + k, right = second + (u64)k * n + column;
    const u16 a = to_bf16(value_of(seed, left)), b = to_bf16(value_of(seed, right));
    touched += (a != input[left]) + (b != input[right]);
    const double product = (double)from_bf16(a) * from_bf16(b);
    sum += product;
    squares += product * product;
  }
  for (int k = 16; k; k /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, k);
    squares += __shfl_xor_sync(0xffffffffu, squares, k);
    touched += __shfl_xor_sync(0xffffffffu, touched, k);
  }
  if (lane) return;
  if (touched) atomicAdd(&report->touched, (u64)touched);
  const u16 got = output[(u64)row * n + column];
  const double room = fabs(sum) / 128.0 + sqrt(squares) / 128.0;
  const float error = (float)(fabs(from_bf16(got) - sum) / room);
  keep_worst(report, note(report, error, got == poison, row * n + column));
}

// Words behind an output that no candidate may write.
extern "C" __global__ void check_guard(const u32* guard, u32 words, u32 word, Report* report) {
  for (u32 i = threadIdx.x; i < words; i += blockDim.x)
    if (guard[i] != word) atomicAdd(&report->outside, 1ull);
}

// ---------------------------------------------------------------- the queue

// Holds a stream for so many nanoseconds, so that a block of calls is queued before it starts.
extern "C" __global__ void spin(u64 nanoseconds) {
  u64 begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do {
    __nanosleep(200);
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - begin < nanoseconds);
}

// The same in clock cycles of a multiprocessor: finer, for slowdowns planted on purpose.
extern "C" __global__ void spin_cycles(u64 cycles) {
  const long long begin = clock64();
  while ((u64)(clock64() - begin) < cycles) { }
}

// Reads one word, to ask whether an address can be read at all.
extern "C" __global__ void peek(const u32* address, u32* found) { *found = *address; }
