// Does nothing: what two events with nothing between them measure.
#include <cuda_bf16.h>
#include <cstdint>
extern "C" int softmax(const __nv_bfloat16*, __nv_bfloat16*, int64_t, int64_t, cudaStream_t) { return 0; }
