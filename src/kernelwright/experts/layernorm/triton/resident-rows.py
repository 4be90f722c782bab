# /// kernelwright
# strategy = "resident rows: a few programs a core keep the weights, loads in advance"
# tune.CORES = "cores"
# tune.PROGRAMS = [4, 2, 1, 8]
# tune.STAGES = [2, 1, 3]
# tune.num_warps = [8, 4, 16, 32]
# where = ["N <= 65536"]
# cures = ["repeated reads of the weights", "launch of many programs"]
# ///
import triton
import triton.language as tl


@triton.jit
def resident(x, weight, bias, y, eps, M, N, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < N
    w = tl.load(weight + at, inside, 0.0).to(tl.float32)
    b = tl.load(bias + at, inside, 0.0).to(tl.float32)
    for number in tl.range(tl.program_id(0), M, tl.num_programs(0), num_stages=STAGES):
        begin = number.to(tl.int64) * N
        row = tl.load(x + begin + at, inside, 0.0).to(tl.float32)
        mean = tl.sum(row, 0) / N
        off = tl.where(inside, row - mean, 0.0)
        rest = tl.sum(off, 0) / N
        off -= rest  # what rounding left in the mean
        off = tl.where(inside, off, 0.0)
        scale = 1.0 / tl.sqrt_rn(tl.sum(off * off, 0) / N + eps)
        row = off * scale * w + b
        tl.store(y + begin + at, row.to(y.dtype.element_ty), inside)


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


def layernorm(x, weight, bias, y, eps, M, N, *, CORES, PROGRAMS, STAGES, num_warps):
    if M == 0 or N == 0:
        return
    if N > 65536:
        walked[(M,)](x, weight, bias, y, eps, N, BLOCK=8192, num_warps=16)
        return
    block = max(triton.next_power_of_2(N), 1024)
    programs = (min(M, CORES * PROGRAMS),)
    stages = STAGES if 4 * block * STAGES <= 200000 else 1  # what shared memory holds
    warps = min(32, max(num_warps, block // 1024))
    resident[programs](x, weight, bias, y, eps, M, N, BLOCK=block, STAGES=stages, num_warps=warps)
