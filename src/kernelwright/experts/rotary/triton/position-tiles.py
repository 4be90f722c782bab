# /// kernelwright
# strategy = "position tiles: the angles of a tile of positions serve several heads"
# tune.PLACES = [32, 16, 64]
# tune.HEADS = [4, 8, 2, 1]
# tune.num_warps = [8, 4, 2]
# cures = ["repeated reads of the angles", "index arithmetic"]
# ///
import triton
import triton.language as tl


@triton.jit
def rotated(
    x, cos, sin, y, heads, S, HALF, PLACES: tl.constexpr, HEADS: tl.constexpr, BLOCK: tl.constexpr
):
    tiles = tl.cdiv(S, PLACES)
    place = tl.program_id(0) % tiles * PLACES + tl.arange(0, PLACES)[:, None]
    at = tl.arange(0, BLOCK)[None, :]
    inside = (place < S) & (at < HALF)
    c = tl.load(cos + place * HALF + at, inside, 0.0).to(tl.float32)
    s = tl.load(sin + place * HALF + at, inside, 0.0).to(tl.float32)
    for step in tl.static_range(HEADS):
        head = (tl.program_id(0) // tiles).to(tl.int64) * HEADS + step
        first = head * S * 2 * HALF + place * 2 * HALF + at
        here = inside & (head < heads)
        a = tl.load(x + first, here, 0.0, eviction_policy="evict_first").to(tl.float32)
        b = tl.load(x + first + HALF, here, 0.0, eviction_policy="evict_first").to(tl.float32)
        tl.store(y + first, (a * c - b * s).to(y.dtype.element_ty), here)
        tl.store(y + first + HALF, (b * c + a * s).to(y.dtype.element_ty), here)


def rotary(x, cos, sin, y, B, H, S, D, *, PLACES, HEADS, num_warps):
    if B * H * S * (D // 2) == 0:
        return
    block = triton.next_power_of_2(D // 2)
    programs = (triton.cdiv(S, PLACES) * triton.cdiv(B * H, HEADS),)
    rotated[programs](
        x, cos, sin, y, B * H, S, D // 2, PLACES=PLACES, HEADS=HEADS, BLOCK=block,
        num_warps=num_warps,
    )  # fmt: skip
