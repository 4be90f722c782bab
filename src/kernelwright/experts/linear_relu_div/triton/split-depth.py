# /// kernelwright
# strategy = "split-depth: parts of the depth side by side, the rest as they are added"
# tune.PARTS = [4, 2, 8]
# tune.BM = [128, 64]
# tune.BN = [128, 64, 256]
# tune.BK = [64, 128]
# tune.num_warps = [4, 8]
# tune.num_stages = [4, 5, 3]
# where = ["(BM + BN) * BK * 2 * num_stages <= 220000", "BM * BN <= 4096 * num_warps"]
# cures = ["occupancy", "memory latency"]
# ///
import torch
import triton
import triton.language as tl


@triton.jit
def tiles(
    x, weight, sums, M, N, K, share,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    across = tl.cdiv(N, BN)
    part = tl.program_id(1)
    row, column = tl.program_id(0) // across, tl.program_id(0) % across
    m, n, k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    first = part * share
    last = min(K, first + share)
    x_at = x + (m % M).to(tl.int64)[:, None] * K + (first + k)[None, :]
    w_at = weight + (n % N).to(tl.int64)[None, :] * K + (first + k)[:, None]
    total = tl.zeros((BM, BN), tl.float32)
    for k0 in range(first, last, BK):
        if WHOLE:
            a, b = tl.load(x_at), tl.load(w_at)
        else:
            a = tl.load(x_at, mask=k[None, :] < last - k0, other=0.0)
            b = tl.load(w_at, mask=k[:, None] < last - k0, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
        x_at += BK
        w_at += BK
    at = sums + (part.to(tl.int64) * M + m)[:, None] * N + n[None, :]
    tl.store(at, total, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def merge(sums, bias, y, divisor, count, N, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(bias + i % N, mask=i < count, other=0.0).to(tl.float32)
    for part in tl.static_range(PARTS):
        total += tl.load(sums + part * tl.cast(count, tl.int64) + i, mask=i < count, other=0.0)
    total = tl.where(total < 0, 0.0, total) / divisor  # NaN stays NaN
    tl.store(y + i, total.to(y.dtype.element_ty), mask=i < count)


def linear_relu_div(
    x, weight, bias, y, divisor, M, N, K, *, PARTS, BM, BN, BK, num_warps, num_stages
):
    if not M or not N:
        return
    if x.element_size() > 2:  # these are multiplied one by one
        BM, BN, BK, num_warps, num_stages = 64, 64, 32, 4, 2
    share = triton.cdiv(triton.cdiv(K, BK), PARTS) * BK
    sums = torch.empty((PARTS, M, N), dtype=torch.float32, device=x.device)
    tiles[(triton.cdiv(M, BM) * triton.cdiv(N, BN), PARTS)](
        x, weight, sums, M, N, K, share, BM=BM, BN=BN, BK=BK, WHOLE=K % BK == 0,
        num_warps=num_warps, num_stages=num_stages,
    )  # fmt: skip
    merge[(triton.cdiv(M * N, 512),)](sums, bias, y, divisor, M * N, N, PARTS=PARTS, BLOCK=512)
