# /// kernelwright
# strategy = "row tiles: one program adds several rows side by side"
# tune.ROWS = [16, 8, 4, 2]
# tune.BLOCK = [1024, 512, 2048]
# tune.num_warps = [8, 4, 16]
# where = ["M >= 32 or N <= 65536"]
# cures = ["short rows", "launch of many programs"]
# ///
import triton
import triton.language as tl


@triton.jit
def tiles(x, y, M, N, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, BLOCK)
    begin = x + rows[:, None] * N
    sums = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, N, BLOCK):
        inside = (rows < M)[:, None] & (start + at < N)[None, :]
        some = tl.load(begin + (start + at)[None, :], inside, 0.0, eviction_policy="evict_first")
        sums += some.to(tl.float32)
    tl.store(y + rows, tl.sum(sums, 1).to(y.dtype.element_ty), rows < M)


def reduction(x, y, M, N, *, ROWS, BLOCK, num_warps):
    if M > 0:
        tiles[(triton.cdiv(M, ROWS),)](x, y, M, N, ROWS=ROWS, BLOCK=BLOCK, num_warps=num_warps)
