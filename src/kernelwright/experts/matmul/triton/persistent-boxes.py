# /// kernelwright
# strategy = "persistent-boxes: a program for each core, boxes come by the copy engine"
# tune.BM = [128, 256]
# tune.BN = [256, 128]
# tune.BK = [64, 128]
# tune.GROUP = [8, 4]
# tune.FLATTEN = [1, 0]
# tune.num_warps = [8, 4]
# tune.num_stages = [3, 4]
# where = [
#   "((BM + BN) * BK * num_stages + BM * BN / 2) * 2 <= 230000",
#   "BM * BN <= 4096 * num_warps",
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
def boxes(
    a, b, c, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr, CORES: tl.constexpr,
    FLATTEN: tl.constexpr,
):  # fmt: skip
    a_box = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    b_box = tl.make_tensor_descriptor(b, [K, N], [N, 1], [BK, BN])
    c_box = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN // 2])
    tall, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tall * across, CORES, flatten=FLATTEN):
        row, column = place(tile, tall, across, GROUP)
        total = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            x, y = a_box.load([row * BM, k * BK]), b_box.load([k * BK, column * BN])
            total = tl.dot(x, y, total, input_precision="ieee")
        halves = tl.permute(tl.reshape(total, (BM, 2, BN // 2)), (0, 2, 1))
        left, right = tl.split(halves)
        c_box.store([row * BM, column * BN], left.to(c.dtype.element_ty))
        c_box.store([row * BM, column * BN + BN // 2], right.to(c.dtype.element_ty))


@triton.jit
def tiles(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):
    row, column = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP)
    m, n = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        k = k0 + tl.arange(0, BK)
        at = a + m.to(tl.int64)[:, None] * K + k[None, :]
        x = tl.load(at, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        at = b + k.to(tl.int64)[:, None] * N + n[None, :]
        y = tl.load(at, mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
    at = c + m.to(tl.int64)[:, None] * N + n[None, :]
    tl.store(at, total.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def scratch(size, alignment, stream):
    return torch.empty(size, dtype=torch.int8, device="cuda")


def matmul(a, b, c, M, N, K, *, BM, BN, BK, GROUP, FLATTEN, num_warps, num_stages):
    if not M or not N:
        return
    size = a.element_size()
    if size > 2 or not K or K * size % 16 or N * size % 16:
        tiles[(triton.cdiv(M, 64) * triton.cdiv(N, 64),)](
            a, b, c, M, N, K, BM=64, BN=64, BK=32, GROUP=GROUP, num_warps=4, num_stages=3
        )
        return
    cores = torch.cuda.get_device_properties(a.device).multi_processor_count
    count = triton.cdiv(M, BM) * triton.cdiv(N, BN)
    triton.set_allocator(scratch)
    boxes[(min(cores, count),)](
        a, b, c, M, N, K, BM=BM, BN=BN, BK=BK, GROUP=GROUP, CORES=min(cores, count),
        FLATTEN=bool(FLATTEN), num_warps=num_warps, num_stages=num_stages,
    )  # fmt: skip
