# /// kernelwright
# strategy = "split-depth: parts of the depth run side by side, then their sums are added"
# tune.PARTS = [4, 2, 8, 16]
# tune.BM = [128, 64]
# tune.BN = [128, 256, 64]
# tune.BK = [64, 32]
# tune.num_warps = [8, 4]
# tune.num_stages = [4, 3]
# where = ["(BM + BN) * BK * 2 * num_stages <= 220000", "BM * BN <= 4096 * num_warps"]
# cures = ["occupancy"]
# ///
import torch
import triton
import triton.language as tl


@triton.jit
def tiles(
    a, b, sums, M, N, K, share,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    across = tl.cdiv(N, BN)
    part = tl.program_id(1)
    row, column = tl.program_id(0) // across, tl.program_id(0) % across
    m, n, k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    first = part * share
    last = min(K, first + share)
    a_at = a + (m % M).to(tl.int64)[:, None] * K + (first + k)[None, :]
    b_at = b + (first + k).to(tl.int64)[:, None] * N + (n % N)[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for k0 in range(first, last, BK):
        if WHOLE:
            x, y = tl.load(a_at), tl.load(b_at)
        else:
            x = tl.load(a_at, mask=k[None, :] < last - k0, other=0.0)
            y = tl.load(b_at, mask=k[:, None] < last - k0, other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
        a_at += BK
        b_at += BK * tl.cast(N, tl.int64)
    at = sums + (part.to(tl.int64) * M + m)[:, None] * N + n[None, :]
    tl.store(at, total, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def merge(sums, c, count, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for part in tl.static_range(PARTS):
        total += tl.load(sums + part * tl.cast(count, tl.int64) + i, mask=i < count, other=0.0)
    tl.store(c + i, total.to(c.dtype.element_ty), mask=i < count)


def matmul(a, b, c, M, N, K, *, PARTS, BM, BN, BK, num_warps, num_stages):
    if not M or not N:
        return
    if a.element_size() > 2:  # these are multiplied one by one
        BM, BN, BK, num_warps, num_stages = 64, 64, 32, 4, 2
    share = triton.cdiv(triton.cdiv(K, BK), PARTS) * BK
    sums = torch.empty((PARTS, M, N), dtype=torch.float32, device=a.device)
    tiles[(triton.cdiv(M, BM) * triton.cdiv(N, BN), PARTS)](
        a, b, sums, M, N, K, share, BM=BM, BN=BN, BK=BK, WHOLE=K % BK == 0,
        num_warps=num_warps, num_stages=num_stages,
    )  # fmt: skip
    merge[(triton.cdiv(M * N, 1024),)](sums, c, M * N, PARTS=PARTS, BLOCK=1024)
