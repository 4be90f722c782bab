# /// kernelwright
# strategy = "row block: one program holds a row; a longer one is walked over three times"
# tune.HELD = [32768, 16384, 65536]
# tune.num_warps = [8, 4, 16, 32]
# cures = ["memory bandwidth"]
# ///
import triton
import triton.language as tl


@triton.jit
def held(x, weight, bias, y, eps, N, BLOCK: tl.constexpr):
    begin = tl.program_id(0).to(tl.int64) * N
    at = tl.arange(0, BLOCK)
    inside = at < N
    row = tl.load(x + begin + at, inside, 0.0, eviction_policy="evict_first").to(tl.float32)
    w = tl.load(weight + at, inside, 0.0, eviction_policy="evict_last").to(tl.float32)
    b = tl.load(bias + at, inside, 0.0, eviction_policy="evict_last").to(tl.float32)
    mean = tl.sum(row, 0) / N
    off = tl.where(inside, row - mean, 0.0)
    rest = tl.sum(off, 0) / N
    off -= rest  # what rounding left in the mean
    off = tl.where(inside, off, 0.0)
    scale = 1.0 / tl.sqrt_rn(tl.sum(off * off, 0) / N + eps)
    row = off * scale * w + b
    tl.store(y + begin + at, row.to(y.dtype.element_ty), inside, eviction_policy="evict_first")


@triton.jit
def walked(x, weight, bias, y, eps, N, BLOCK: tl.constexpr):
    begin = tl.program_id(0).to(tl.int64) * N
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        total += tl.load(x + begin + start + at, start + at < N, 0.0).to(tl.float32)
    mean = tl.sum(total, 0) / N
    rests = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        some = tl.load(x + begin + start + at, start + at < N, 0.0).to(tl.float32)
        some = tl.where(start + at < N, some - mean, 0.0)
        rests += some
        squares += some * some
    rest = tl.sum(rests, 0) / N
    scale = 1.0 / tl.sqrt_rn(tl.sum(squares, 0) / N - rest * rest + eps)
    for start in range(0, N, BLOCK):
        inside = start + at < N
        some = tl.load(x + begin + start + at, inside, 0.0).to(tl.float32)
        w = tl.load(weight + start + at, inside, 0.0).to(tl.float32)
        b = tl.load(bias + start + at, inside, 0.0).to(tl.float32)
        some = (some - mean - rest) * scale * w + b
        tl.store(y + begin + start + at, some.to(y.dtype.element_ty), inside)


def layernorm(x, weight, bias, y, eps, M, N, *, HELD, num_warps):
    if M == 0 or N == 0:
        return
    if N <= HELD:
        block = max(triton.next_power_of_2(N), 1024)
        warps = min(32, max(num_warps, block // 1024))
        held[(M,)](x, weight, bias, y, eps, N, BLOCK=block, num_warps=warps)
    else:
        walked[(M,)](x, weight, bias, y, eps, N, BLOCK=8192, num_warps=16)
