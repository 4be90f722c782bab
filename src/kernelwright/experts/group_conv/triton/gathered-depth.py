# /// kernelwright
# strategy = "gathered-depth: one product over all taps and channels, pixels gathered"
# tune.BP = [128, 256, 64]
# tune.BK = [64, 32, 128]
# tune.num_warps = [4, 8]
# tune.num_stages = [2, 3]
# cures = ["compute"]
# ///
import triton
import triton.language as tl


@triton.jit
def gathered(x, weight, y, C, per, H, W, BO: tl.constexpr, BP: tl.constexpr, BK: tl.constexpr):
    blocks = tl.cdiv(H * W, BP)
    block, rest = tl.program_id(0) % blocks, tl.program_id(0) // blocks
    parts = tl.cdiv(per, BO)
    part, image = rest % parts, rest // parts  # an image is the pixels of one group
    group = image % (C // per)
    p = block * BP + tl.arange(0, BP)
    row, column = p // W, p % W
    o = part * BO + tl.arange(0, BO)
    start = image.to(tl.int64) * per * H * W
    total = tl.zeros((BP, BO), tl.float32)
    for k0 in range(0, per * 9, BK):
        k = k0 + tl.arange(0, BK)  # weights of an output lie in this order: channel, then tap
        c, tap = k // 9, k % 9
        at_y, at_x = (
            row[:, None] + (tap // 3 - 1)[None, :],
            column[:, None] + (tap % 3 - 1)[None, :],
        )
        there = (at_y >= 0) & (at_y < H) & (at_x >= 0) & (at_x < W) & (k[None, :] < per * 9)
        at = x + start + c.to(tl.int64)[None, :] * (H * W) + at_y * W + at_x
        v = tl.load(at, mask=there, other=0.0)
        at = weight + (group * per + o)[None, :] * (per * 9) + k[:, None]
        w = tl.load(at, mask=(o[None, :] < per) & (k[:, None] < per * 9), other=0.0)
        total = tl.dot(v, w, total, input_precision="ieee")
    at = y + start + o.to(tl.int64)[None, :] * (H * W) + p[:, None]
    tl.store(at, total.to(y.dtype.element_ty), mask=(o[None, :] < per) & (p[:, None] < H * W))


def group_conv(x, weight, y, N, C, H, W, G, *, BP, BK, num_warps, num_stages):
    if not N or not C or not H or not W:
        return
    per = C // G
    size = max(16, min(64, triton.next_power_of_2(per)))
    gathered[(triton.cdiv(H * W, BP) * triton.cdiv(per, size) * G * N,)](
        x, weight, y, C, per, H, W, BO=size, BP=BP, BK=BK,
        num_warps=num_warps, num_stages=num_stages,
    )  # fmt: skip
