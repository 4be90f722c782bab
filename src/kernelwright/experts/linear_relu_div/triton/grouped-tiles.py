# /// kernelwright
# strategy = "grouped-tiles: bias, ReLU and division before a tile is written"
# tune.BM = [128, 64, 32]
# tune.BN = [256, 128, 64, 32]
# tune.BK = [64, 128, 32]
# tune.GROUP = [8, 4]
# tune.num_warps = [8, 4]
# tune.num_stages = [3, 4, 5]
# where = ["(BM + BN) * BK * 2 * num_stages <= 220000", "BM * BN <= 4096 * num_warps"]
# cures = ["memory bandwidth", "compute"]
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
    x, weight, bias, y, divisor, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    row, column = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    m, n, k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    # Rows past the end repeat others; only what exists is written.
    x_at = x + (m % M).to(tl.int64)[:, None] * K + k[None, :]
    w_at = weight + (n % N).to(tl.int64)[None, :] * K + k[:, None]
    total = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        if WHOLE:
            a, b = tl.load(x_at), tl.load(w_at)
        else:
            a = tl.load(x_at, mask=k[None, :] < K - k0, other=0.0)
            b = tl.load(w_at, mask=k[:, None] < K - k0, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
        x_at += BK
        w_at += BK
    total += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    total = tl.where(total < 0, 0.0, total) / divisor  # NaN stays NaN
    at = y + m.to(tl.int64)[:, None] * N + n[None, :]
    tl.store(at, total.to(y.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def linear_relu_div(
    x, weight, bias, y, divisor, M, N, K, *, BM, BN, BK, GROUP, num_warps, num_stages
):
    if M and N:
        if x.element_size() > 2:  # these are multiplied one by one
            BM, BN, BK, num_warps, num_stages = 64, 64, 32, 4, 2
        tiles[(triton.cdiv(M, BM) * triton.cdiv(N, BN),)](
            x, weight, bias, y, divisor, M, N, K, BM=BM, BN=BN, BK=BK, GROUP=GROUP,
            WHOLE=K % BK == 0, num_warps=num_warps, num_stages=num_stages,
        )  # fmt: skip
