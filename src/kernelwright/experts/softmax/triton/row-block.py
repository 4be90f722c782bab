# /// kernelwright
# strategy = "row block: one program holds a row; a longer one is walked over twice"
# tune.HELD = [32768, 16384, 65536]
# tune.num_warps = [8, 4, 16, 32]
# cures = ["memory bandwidth"]
# ///
import triton
import triton.language as tl

FLOOR = tl.constexpr(-3.4028234663852886e38)  # finite: a row of -inf still ends as 0 / 0


@triton.jit
def held(x, y, N, BLOCK: tl.constexpr):
    begin = tl.program_id(0).to(tl.int64) * N
    at = tl.arange(0, BLOCK)
    inside = at < N
    row = tl.load(x + begin + at, inside, -float("inf"), eviction_policy="evict_first")
    row = row.to(tl.float32)
    row = tl.exp(row - tl.maximum(tl.max(row, 0), FLOOR))
    row *= 1.0 / tl.sum(row, 0)
    tl.store(y + begin + at, row.to(y.dtype.element_ty), inside, eviction_policy="evict_first")


@triton.jit
def walked(x, y, N, BLOCK: tl.constexpr):
    begin = tl.program_id(0).to(tl.int64) * N
    at = tl.arange(0, BLOCK)
    tops = tl.full((BLOCK,), FLOOR, tl.float32)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        some = tl.load(x + begin + start + at, start + at < N, -float("inf")).to(tl.float32)
        larger = tl.maximum(tops, some)
        sums = sums * tl.exp(tops - larger) + tl.exp(some - larger)
        tops = larger
    top = tl.max(tops, 0)
    scale = 1.0 / tl.sum(sums * tl.exp(tops - top), 0)
    for start in range(0, N, BLOCK):
        inside = start + at < N
        some = tl.load(x + begin + start + at, inside, 0.0).to(tl.float32)
        some = tl.exp(some - top) * scale
        tl.store(y + begin + start + at, some.to(y.dtype.element_ty), inside)


def softmax(x, y, M, N, *, HELD, num_warps):
    if M == 0 or N == 0:
        return
    if N <= HELD:
        block = max(triton.next_power_of_2(N), 1024)
        warps = min(32, max(num_warps, block // 1024))
        held[(M,)](x, y, N, BLOCK=block, num_warps=warps)
    else:
        walked[(M,)](x, y, N, BLOCK=8192, num_warps=16)
