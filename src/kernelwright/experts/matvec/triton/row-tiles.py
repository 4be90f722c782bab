# /// kernelwright
# strategy = "row tiles: one program takes several rows, a piece of the vector serves all"
# tune.ROWS = [4, 2, 8, 1]
# tune.BLOCK = [1024, 2048, 512, 4096]
# tune.num_warps = [4, 8, 2]
# cures = ["repeated reads of the vector", "memory bandwidth"]
# ///
import triton
import triton.language as tl


@triton.jit
def tiles(a, x, y, M, K, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, BLOCK)
    begin = a + rows[:, None] * K
    sums = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        inside = (rows < M)[:, None] & (start + at < K)[None, :]
        some = tl.load(begin + (start + at)[None, :], inside, 0.0, eviction_policy="evict_first")
        vector = tl.load(x + start + at, start + at < K, 0.0)
        sums += some.to(tl.float32) * vector.to(tl.float32)[None, :]
    tl.store(y + rows, tl.sum(sums, 1).to(y.dtype.element_ty), rows < M)


def matvec(a, x, y, M, K, *, ROWS, BLOCK, num_warps):
    if M > 0:
        tiles[(triton.cdiv(M, ROWS),)](a, x, y, M, K, ROWS=ROWS, BLOCK=BLOCK, num_warps=num_warps)
