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
def resident(x, weight, y, eps, M, N, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < N
    w = tl.load(weight + at, inside, 0.0).to(tl.float32)
    for number in tl.range(tl.program_id(0), M, tl.num_programs(0), num_stages=STAGES):
        begin = number.to(tl.int64) * N
        row = tl.load(x + begin + at, inside, 0.0).to(tl.float32)
        scale = 1.0 / tl.sqrt_rn(tl.sum(row * row, 0) / N + eps)
        row = row * scale * w
        tl.store(y + begin + at, row.to(y.dtype.element_ty), inside)


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


def rmsnorm(x, weight, y, eps, M, N, *, CORES, PROGRAMS, STAGES, num_warps):
    if M == 0 or N == 0:
        return
    if N > 65536:
        walked[(M,)](x, weight, y, eps, N, BLOCK=8192, num_warps=16)
        return
    block = max(triton.next_power_of_2(N), 1024)
    programs = (min(M, CORES * PROGRAMS),)
    stages = STAGES if 4 * block * STAGES <= 200000 else 1  # what shared memory holds
    warps = min(32, max(num_warps, block // 1024))
    resident[programs](x, weight, y, eps, M, N, BLOCK=block, STAGES=stages, num_warps=warps)
