# /// kernelwright
# strategy = "split-keys: parts of the keys run side by side, then a merge weighs them"
# tune.PARTS = [4, 2, 8]
# tune.BM = [64, 128, 32]
# tune.BN = [64, 128, 32]
# tune.num_warps = [4, 8]
# tune.num_stages = [3, 2]
# where = ["(BM + 2 * BN * num_stages) * D * 2 <= 220000"]
# cures = ["occupancy", "memory latency"]
# ///
import torch
import triton
import triton.language as tl


@triton.jit
def tiles(
    q, k, v, sums, tops, norms, scale, S, D, lines, CAUSAL: tl.constexpr, PARTS: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, P: tl.constexpr,
):  # fmt: skip
    tall = tl.cdiv(S, BM)
    row = (tall - 1 - tl.program_id(0) % tall) * BM
    part = tl.program_id(1)
    first_line = (tl.program_id(0) // tall).to(tl.int64) * S
    start = first_line * D
    m, columns = row + tl.arange(0, BM), tl.arange(0, P)
    here = (m[:, None] < S) & (columns[None, :] < D)
    x = tl.load(q + start + m.to(tl.int64)[:, None] * D + columns[None, :], mask=here, other=0.0)
    top = tl.full((BM,), float("-inf"), tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, P), tl.float32)
    blocks = tl.cdiv(min(S, row + BM) if CAUSAL else S, BN)
    for j in tl.range(blocks * part // PARTS * BN, blocks * (part + 1) // PARTS * BN, BN):
        n = j + tl.arange(0, BN)
        at = n.to(tl.int64)[None, :] * D + columns[:, None]
        there = (n[None, :] < S) & (columns[:, None] < D)
        s = tl.dot(x, tl.load(k + start + at, mask=there, other=0.0), input_precision="ieee")
        seen = n[None, :] < S
        if CAUSAL:
            seen = seen & (n[None, :] <= m[:, None])
        s = tl.where(seen, s, float("-inf"))
        now = tl.maximum(top, tl.max(s, 1))
        base = tl.where(now == float("-inf"), 0.0, now * scale)
        p = tl.exp2(s * scale - base[:, None])
        keep = tl.exp2(top * scale - base)
        norm = norm * keep + tl.sum(p, 1)
        at = n.to(tl.int64)[:, None] * D + columns[None, :]
        there = (n[:, None] < S) & (columns[None, :] < D)
        values = tl.load(v + start + at, mask=there, other=0.0)
        total = tl.dot(p.to(values.dtype), values, total * keep[:, None], input_precision="ieee")
        top = now
    line = part.to(tl.int64) * lines + first_line + m
    tl.store(tops + line, top, mask=m < S)
    tl.store(norms + line, norm, mask=m < S)
    tl.store(sums + line[:, None] * D + columns[None, :], total, mask=here)


@triton.jit
def merge(
    sums, tops, norms, o, scale, D, lines, PARTS: tl.constexpr, P: tl.constexpr, BL: tl.constexpr
):
    line = tl.program_id(0).to(tl.int64) * BL + tl.arange(0, BL)
    columns = tl.arange(0, P)
    here = (line[:, None] < lines) & (columns[None, :] < D)
    top = tl.full((BL,), float("-inf"), tl.float32)
    for part in tl.static_range(PARTS):
        at = line + part * tl.cast(lines, tl.int64)
        top = tl.maximum(top, tl.load(tops + at, mask=line < lines, other=0.0))
    total = tl.zeros((BL, P), tl.float32)
    norm = tl.zeros((BL,), tl.float32)
    for part in tl.static_range(PARTS):
        at = line + part * tl.cast(lines, tl.int64)
        mine = tl.load(tops + at, mask=line < lines, other=0.0)
        weight = tl.where(mine == float("-inf"), 0.0, tl.exp2((mine - top) * scale))
        own = tl.load(norms + at, mask=line < lines, other=1.0)
        # A part that saw only NaN has no maximum but a sum.
        norm += tl.where(mine == float("-inf"), own, own * weight)
        v = tl.load(sums + at[:, None] * D + columns[None, :], mask=here, other=0.0)
        total += v * weight[:, None]
    at = o + line[:, None] * D + columns[None, :]
    tl.store(at, (total / norm[:, None]).to(o.dtype.element_ty), mask=here)


def attention(q, k, v, o, causal, B, H, S, D, *, PARTS, BM, BN, num_warps, num_stages):
    if not B or not H or not S or not D:
        return
    padded = max(16, triton.next_power_of_2(D))
    if q.element_size() > 2 or padded > 128:
        BM, BN, num_stages = 32, 32, 1
    lines, scale = B * H * S, 1.4426950408889634 * D**-0.5
    sums = torch.empty((PARTS, lines, D), dtype=torch.float32, device=q.device)
    tops = torch.empty((PARTS, lines), dtype=torch.float32, device=q.device)
    norms = torch.empty((PARTS, lines), dtype=torch.float32, device=q.device)
    tiles[(triton.cdiv(S, BM) * B * H, PARTS)](
        q, k, v, sums, tops, norms, scale, S, D, lines, CAUSAL=bool(causal), PARTS=PARTS,
        BM=BM, BN=BN, P=padded, num_warps=num_warps, num_stages=num_stages,
    )  # fmt: skip
    merge[(triton.cdiv(lines, 16),)](
        sums, tops, norms, o, scale, D, lines, PARTS=PARTS, P=padded, BL=16
    )
