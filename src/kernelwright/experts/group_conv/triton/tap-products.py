# /// kernelwright
# strategy = "tap-products: nine products of weights and shifted pixels"
# tune.BP = [128, 256, 64, 512]
# tune.num_warps = [4, 8]
# tune.num_stages = [3, 2, 4]
# cures = ["memory bandwidth", "compute"]
# ///
import triton
import triton.language as tl


@triton.jit
def taps(x, weight, y, C, per, H, W, BC: tl.constexpr, BO: tl.constexpr, BP: tl.constexpr):
    blocks = tl.cdiv(H * W, BP)
    block, rest = tl.program_id(0) % blocks, tl.program_id(0) // blocks
    parts = tl.cdiv(per, BO)
    part, image = rest % parts, rest // parts  # an image is the pixels of one group
    group = image % (C // per)
    p = block * BP + tl.arange(0, BP)
    row, column = p // W, p % W
    o = part * BO + tl.arange(0, BO)
    start = image.to(tl.int64) * per * H * W
    total = tl.zeros((BO, BP), tl.float32)
    for c0 in range(0, per, BC):
        c = c0 + tl.arange(0, BC)
        for tap in range(9):
            dy, dx = tap // 3 - 1, tap % 3 - 1
            there = (row + dy >= 0) & (row + dy < H) & (column + dx >= 0) & (column + dx < W)
            at = x + start + c.to(tl.int64)[:, None] * (H * W) + (p + dy * W + dx)[None, :]
            v = tl.load(at, mask=(c[:, None] < per) & there[None, :], other=0.0)
            at = weight + ((group * per + o)[:, None] * per + c[None, :]) * 9 + tap
            w = tl.load(at, mask=(o[:, None] < per) & (c[None, :] < per), other=0.0)
            total = tl.dot(w, v, total, input_precision="ieee")
    at = y + start + o.to(tl.int64)[:, None] * (H * W) + p[None, :]
    tl.store(at, total.to(y.dtype.element_ty), mask=(o[:, None] < per) & (p[None, :] < H * W))


def group_conv(x, weight, y, N, C, H, W, G, *, BP, num_warps, num_stages):
    if not N or not C or not H or not W:
        return
    per = C // G
    size = max(16, min(64, triton.next_power_of_2(per)))
    taps[(triton.cdiv(H * W, BP) * triton.cdiv(per, size) * G * N,)](
        x, weight, y, C, per, H, W, BC=size, BO=size, BP=BP, num_warps=num_warps,
        num_stages=num_stages,
    )  # fmt: skip
