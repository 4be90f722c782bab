# /// kernelwright
# strategy = "grouped-tiles: a program for each tile, those of a band of rows side by side"
# tune.BM = [128, 64, 256]
# tune.BN = [256, 128, 64]
# tune.BK = [64, 32, 128]
# tune.GROUP = [8, 4]
# tune.num_warps = [8, 4]
# tune.num_stages = [3, 4]
# where = ["(BM + BN) * BK * 2 * num_stages <= 220000", "BM * BN <= 4096 * num_warps"]
# cures = ["compute", "memory bandwidth"]
# ///
import triton
import triton.language as tl


@triton.jit
def place(tile, tall, across, GROUP: tl.constexpr):
    band = GROUP * across
    first = tile // band * GROUP
    height = min(tall - first, GROUP)
    return first + tile % band % height, tile % band // height


@triton.jit
def tiles(
    a, b, c, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    row, column = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    m, n, k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    # Rows and columns past the end repeat others; only what exists is written.
    a_at = a + (m % M).to(tl.int64)[:, None] * K + k[None, :]
    b_at = b + k.to(tl.int64)[:, None] * N + (n % N)[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        if WHOLE:
            x, y = tl.load(a_at), tl.load(b_at)
        else:
            x = tl.load(a_at, mask=k[None, :] < K - k0, other=0.0)
            y = tl.load(b_at, mask=k[:, None] < K - k0, other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
        a_at += BK
        b_at += BK * tl.cast(N, tl.int64)
    at = c + m.to(tl.int64)[:, None] * N + n[None, :]
    tl.store(at, total.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def matmul(a, b, c, M, N, K, *, BM, BN, BK, GROUP, num_warps, num_stages):
    if M and N:
        if a.element_size() > 2:  # these are multiplied one by one
            BM, BN, BK, num_warps, num_stages = 64, 64, 32, 4, 2
        tiles[(triton.cdiv(M, BM) * triton.cdiv(N, BN),)](
            a, b, c, M, N, K, BM=BM, BN=BN, BK=BK, GROUP=GROUP, WHOLE=K % BK == 0,
            num_warps=num_warps, num_stages=num_stages,
        )  # fmt: skip
