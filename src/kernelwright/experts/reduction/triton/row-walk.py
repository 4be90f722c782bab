# /// kernelwright
# strategy = "row walk: one program adds the blocks of a row lane by lane"
# tune.BLOCK = [2048, 4096, 8192, 16384]
# tune.num_warps = [8, 4, 16]
# where = ["M >= 32 or N <= 65536"]
# cures = ["memory bandwidth"]
# ///
import triton
import triton.language as tl


@triton.jit
def walked(x, y, N, BLOCK: tl.constexpr):
    number = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        places = x + number * N + start + at
        some = tl.load(places, start + at < N, 0.0, eviction_policy="evict_first")
        sums += some.to(tl.float32)
    tl.store(y + number, tl.sum(sums, 0).to(y.dtype.element_ty))


def reduction(x, y, M, N, *, BLOCK, num_warps):
    if M > 0:
        walked[(M,)](x, y, N, BLOCK=BLOCK, num_warps=num_warps)
