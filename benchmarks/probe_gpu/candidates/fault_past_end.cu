// Right answers, and one element written behind the output.
#include "honest_rows.h"
static __global__ void past(__nv_bfloat16* end) { *end = __float2bfloat16(1); }
extern "C" int softmax(const __nv_bfloat162* x, __nv_bfloat162* y, int64_t M, int64_t N, cudaStream_t s) {
  honest_rows<<<M, 512, 0, s>>>(x, y, N / 2);
  past<<<1, 1, 0, s>>>((__nv_bfloat16*)y + M * N);
  return cudaGetLastError();
}
