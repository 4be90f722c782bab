# /// kernelwright
# strategy = "row block: one program holds a row; a longer one is walked over twice"
# tune.HELD = [32768, 16384, 65536]
# tune.num_warps = [8, 4, 16, 32]
# cures = ["memory bandwidth"]
# ///
import triton
import triton.language as tl


@triton.jit
def held(x, weight, y, eps, N, BLOCK: tl.constexpr):
    begin = tl.program_id(0).to(tl.int64) * N
    at = tl.arange(0, BLOCK)
    inside = at < N
    row = tl.load(x + begin + at, inside, 0.0, eviction_policy="evict_first").to(tl.float32)
    w = tl.load(weight + at, inside, 0.0, eviction_policy="evict_last").to(tl.float32)
    scale = 1.0 / tl.sqrt_rn(tl.sum(row * row, 0) / N + eps)
    row = row * scale * w
    tl.store(y + begin + at, row.to(y.dtype.element_ty), inside, eviction_policy="evict_first")


@triton.jit
def walked(x, weight, y, eps, N, BLOCK: tl.constexpr):
    begin = tl.program_id(0).to(tl.int64) * N
    at = tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        some = tl.load(x + begin + start + at, start + at < N, 0.0).to(tl.float32)
        squares += some * some
    scale = 1.0 / tl.sqrt_rn(tl.sum(squares, 0) / N + eps)
    for start in range(0, N, BLOCK):
        inside = start + at < N
        some = tl.load(x + begin + start + at, inside, 0.0).to(tl.float32)
        w = tl.load(weight + start + at, inside, 0.0).to(tl.float32)
        some = some * scale * w
        tl.store(y + begin + start + at, some.to(y.dtype.element_ty), inside)


def rmsnorm(x, weight, y, eps, M, N, *, HELD, num_warps):
    if M == 0 or N == 0:
        return
    if N <= HELD:
        block = max(triton.next_power_of_2(N), 1024)
        warps = min(32, max(num_warps, block // 1024))
        held[(M,)](x, weight, y, eps, N, BLOCK=block, num_warps=warps)
    else:
        walked[(M,)](x, weight, y, eps, N, BLOCK=8192, num_warps=16)
