# /// kernelwright
# strategy = "fused-gate: gate and up are multiplied together, SiLU is applied to what is held"
# tune.BM = [128, 64]
# tune.BF = [128, 64]
# tune.BN = [256, 128]
# tune.BK = [64, 32]
# tune.GROUP = [8, 4]
# tune.num_warps = [8, 4]
# tune.num_stages = [3, 4]
# where = [
#   "(BM + 2 * BF) * BK * 2 * num_stages <= 220000",
#   "(BM + BN) * BK * 2 * num_stages <= 220000",
#   "BM * BF <= 2048 * num_warps",
#   "BM * BN <= 4096 * num_warps",
# ]
# cures = ["memory bandwidth", "compute"]
# ///
import torch
import triton
import triton.language as tl


@triton.jit
def place(tile, tall, across, GROUP: tl.constexpr):
    band = GROUP * across
    first = tile // band * GROUP
    height = min(tall - first, GROUP)
    return first + tile % band % height, tile % band // height


@triton.jit
def widen(
    x, gate, up, hidden, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    row, column = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    m, n, k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    # Rows past the end repeat others; only what exists is written.
    x_at = x + (m % M).to(tl.int64)[:, None] * K + k[None, :]
    line = (n % N).to(tl.int64)[None, :] * K + k[:, None]
    gate_at, up_at = gate + line, up + line
    gated = tl.zeros((BM, BN), tl.float32)
    other = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        if WHOLE:
            a, b, c = tl.load(x_at), tl.load(gate_at), tl.load(up_at)
        else:
            a = tl.load(x_at, mask=k[None, :] < K - k0, other=0.0)
            b = tl.load(gate_at, mask=k[:, None] < K - k0, other=0.0)
            c = tl.load(up_at, mask=k[:, None] < K - k0, other=0.0)
        gated = tl.dot(a, b, gated, input_precision="ieee")
        other = tl.dot(a, c, other, input_precision="ieee")
        x_at += BK
        gate_at += BK
        up_at += BK
    gated = gated / (1.0 + tl.exp(-gated)) * other
    at = hidden + m.to(tl.int64)[:, None] * N + n[None, :]
    tl.store(at, gated.to(hidden.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def narrow(
    hidden, down, y, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    row, column = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    m, n, k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    a_at = hidden + (m % M).to(tl.int64)[:, None] * K + k[None, :]
    b_at = down + (n % N).to(tl.int64)[None, :] * K + k[:, None]
    total = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        if WHOLE:
            a, b = tl.load(a_at), tl.load(b_at)
        else:
            a = tl.load(a_at, mask=k[None, :] < K - k0, other=0.0)
            b = tl.load(b_at, mask=k[:, None] < K - k0, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
        a_at += BK
        b_at += BK
    at = y + m.to(tl.int64)[:, None] * N + n[None, :]
    tl.store(at, total.to(y.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def swiglu(x, gate, up, down, y, M, D, F, *, BM, BF, BN, BK, GROUP, num_warps, num_stages):
    if not M or not D:
        return
    if x.element_size() > 2:  # these are multiplied one by one
        BM, BF, BN, BK, num_warps, num_stages = 64, 64, 64, 32, 4, 2
    hidden = torch.empty((M, F), dtype=x.dtype, device=x.device)
    if F:
        widen[(triton.cdiv(M, BM) * triton.cdiv(F, BF),)](
            x, gate, up, hidden, M, F, D, BM=BM, BN=BF, BK=BK, GROUP=GROUP, WHOLE=D % BK == 0,
            num_warps=num_warps, num_stages=num_stages,
        )  # fmt: skip
    narrow[(triton.cdiv(M, BM) * triton.cdiv(D, BN),)](
        hidden, down, y, M, D, F, BM=BM, BN=BN, BK=BK, GROUP=GROUP, WHOLE=F % BK == 0,
        num_warps=num_warps, num_stages=num_stages,
    )  # fmt: skip
