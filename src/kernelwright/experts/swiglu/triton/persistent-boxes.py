# /// kernelwright
# strategy = "persistent-boxes: a fused gate, a program for each core, copy engine"
# tune.BM = [128]
# tune.BF = [128, 64]
# tune.BN = [256, 128]
# tune.BK = [64, 128]
# tune.GROUP = [8, 4]
# tune.num_warps = [8]
# tune.num_stages = [3, 4]
# where = [
#   "((BM + 2 * BF) * BK * num_stages + BM * BF) * 2 <= 230000",
#   "((BM + BN) * BK * num_stages + BM * BN / 2) * 2 <= 230000",
# ]
# cures = ["compute", "memory latency"]
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
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, CORES: tl.constexpr,
):  # fmt: skip
    x_box = tl.make_tensor_descriptor(x, [M, K], [K, 1], [BM, BK])
    gate_box = tl.make_tensor_descriptor(gate, [N, K], [K, 1], [BN, BK])
    up_box = tl.make_tensor_descriptor(up, [N, K], [K, 1], [BN, BK])
    hidden_box = tl.make_tensor_descriptor(hidden, [M, N], [N, 1], [BM, BN])
    tall, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tall * across, CORES):
        row, column = place(tile, tall, across, GROUP)
        gated = tl.zeros((BM, BN), tl.float32)
        other = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            a = x_box.load([row * BM, k * BK])
            b = gate_box.load([column * BN, k * BK])
            c = up_box.load([column * BN, k * BK])
            gated = tl.dot(a, b.T, gated)
            other = tl.dot(a, c.T, other)
        gated = gated / (1.0 + tl.exp(-gated)) * other
        hidden_box.store([row * BM, column * BN], gated.to(hidden.dtype.element_ty))


@triton.jit
def narrow(
    hidden, down, y, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, CORES: tl.constexpr,
):  # fmt: skip
    a_box = tl.make_tensor_descriptor(hidden, [M, K], [K, 1], [BM, BK])
    b_box = tl.make_tensor_descriptor(down, [N, K], [K, 1], [BN, BK])
    y_box = tl.make_tensor_descriptor(y, [M, N], [N, 1], [BM, BN // 2])
    tall, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tall * across, CORES):
        row, column = place(tile, tall, across, GROUP)
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            a, b = a_box.load([row * BM, k * BK]), b_box.load([column * BN, k * BK])
            total = tl.dot(a, b.T, total)
        left, right = tl.split(tl.permute(tl.reshape(total, (BM, 2, BN // 2)), (0, 2, 1)))
        y_box.store([row * BM, column * BN], left.to(y.dtype.element_ty))
        y_box.store([row * BM, column * BN + BN // 2], right.to(y.dtype.element_ty))


@triton.jit
def tiles(
    x, gate, up, y, M, N, K, GATED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    row, column = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    m, n = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    other = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        here = (m[:, None] < M) & (k[None, :] < K)
        a = tl.load(x + m.to(tl.int64)[:, None] * K + k[None, :], mask=here, other=0.0)
        here = (k[:, None] < K) & (n[None, :] < N)
        at = n.to(tl.int64)[None, :] * K + k[:, None]
        total = tl.dot(a, tl.load(gate + at, mask=here, other=0.0), total, input_precision="ieee")
        if GATED:
            b = tl.load(up + at, mask=here, other=0.0)
            other = tl.dot(a, b, other, input_precision="ieee")
    if GATED:
        total = total / (1.0 + tl.exp(-total)) * other
    at = y + m.to(tl.int64)[:, None] * N + n[None, :]
    tl.store(at, total.to(y.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def scratch(size, alignment, stream):
    return torch.empty(size, dtype=torch.int8, device="cuda")


def swiglu(x, gate, up, down, y, M, D, F, *, BM, BF, BN, BK, GROUP, num_warps, num_stages):
    if not M or not D:
        return
    hidden = torch.empty((M, F), dtype=x.dtype, device=x.device)
    size = x.element_size()
    if size > 2 or not F or D * size % 16 or F * size % 16:
        fixed = {"BM": 64, "BN": 64, "BK": 32, "GROUP": GROUP, "num_warps": 4, "num_stages": 2}
        if F:
            tiles[(triton.cdiv(M, 64) * triton.cdiv(F, 64),)](
                x, gate, up, hidden, M, F, D, GATED=True, **fixed
            )
        tiles[(triton.cdiv(M, 64) * triton.cdiv(D, 64),)](
            hidden, down, down, y, M, D, F, GATED=False, **fixed
        )
        return
    cores = torch.cuda.get_device_properties(x.device).multi_processor_count
    triton.set_allocator(scratch)
    count = min(cores, triton.cdiv(M, BM) * triton.cdiv(F, BF))
    widen[(count,)](
        x, gate, up, hidden, M, F, D, BM=BM, BN=BF, BK=BK, GROUP=GROUP, CORES=count,
        num_warps=num_warps, num_stages=num_stages,
    )  # fmt: skip
    count = min(cores, triton.cdiv(M, BM) * triton.cdiv(D, BN))
    narrow[(count,)](
        hidden, down, y, M, D, F, BM=BM, BN=BN, BK=BK, GROUP=GROUP, CORES=count,
        num_warps=num_warps, num_stages=num_stages,
    )  # fmt: skip
