# /// kernelwright
# strategy = "key-blocks: online softmax over blocks of keys, unmasked ones first"
# tune.BM = [128, 64]
# tune.BN = [64, 128, 32]
# tune.num_warps = [8, 4]
# tune.num_stages = [3, 2, 4]
# where = ["(BM + 2 * BN * num_stages) * D * 2 <= 220000"]
# cures = ["memory bandwidth", "compute"]
# ///
import triton
import triton.language as tl


@triton.jit
def meet(
    total, top, norm, q, k_at, v_at, first, last, rows, S, D, scale,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BN: tl.constexpr, WHOLE: tl.constexpr,
    P: tl.constexpr,
):  # fmt: skip
    columns = tl.arange(0, P)
    for j in tl.range(first, last, BN):
        n = j + tl.arange(0, BN)
        if MASKED:
            k = tl.load(k_at + n.to(tl.int64)[None, :] * D + columns[:, None],
                        mask=(n[None, :] < S) & (columns[:, None] < D), other=0.0)  # fmt: skip
        elif WHOLE:
            k = tl.load(k_at + n.to(tl.int64)[None, :] * D + columns[:, None])
        else:
            k = tl.load(k_at + n.to(tl.int64)[None, :] * D + columns[:, None],
                        mask=columns[:, None] < D, other=0.0)  # fmt: skip
        s = tl.dot(q, k, input_precision="ieee")
        if MASKED:
            seen = n[None, :] < S
            if CAUSAL:
                seen = seen & (n[None, :] <= rows[:, None])
            s = tl.where(seen, s, float("-inf"))
        now = tl.maximum(top, tl.max(s, 1))
        base = tl.where(now == float("-inf"), 0.0, now * scale)
        p = tl.exp2(s * scale - base[:, None])
        keep = tl.exp2(top * scale - base)
        norm = norm * keep + tl.sum(p, 1)
        total = total * keep[:, None]
        if MASKED:
            v = tl.load(v_at + n.to(tl.int64)[:, None] * D + columns[None, :],
                        mask=(n[:, None] < S) & (columns[None, :] < D), other=0.0)  # fmt: skip
        elif WHOLE:
            v = tl.load(v_at + n.to(tl.int64)[:, None] * D + columns[None, :])
        else:
            v = tl.load(v_at + n.to(tl.int64)[:, None] * D + columns[None, :],
                        mask=columns[None, :] < D, other=0.0)  # fmt: skip
        total = tl.dot(p.to(v.dtype), v, total, input_precision="ieee")
        top = now
    return total, top, norm


@triton.jit
def tiles(
    q, k, v, o, scale, S, D, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    P: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    tall = tl.cdiv(S, BM)
    row = (tall - 1 - tl.program_id(0) % tall) * BM  # the longest first
    start = (tl.program_id(0) // tall).to(tl.int64) * S * D
    m, columns = row + tl.arange(0, BM), tl.arange(0, P)
    here = (m[:, None] < S) & (columns[None, :] < D)
    at = m.to(tl.int64)[:, None] * D + columns[None, :]
    x = tl.load(q + start + at, mask=here, other=0.0)
    top = tl.full((BM,), float("-inf"), tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, P), tl.float32)
    end = min(S, row + BM) if CAUSAL else S
    plain = min(row, S) // BN * BN if CAUSAL else S // BN * BN
    total, top, norm = meet(
        total, top, norm, x, k + start, v + start, 0, plain, m, S, D, scale,
        CAUSAL, False, BN, WHOLE, P,
    )  # fmt: skip
    total, top, norm = meet(
        total, top, norm, x, k + start, v + start, plain, end, m, S, D, scale,
        CAUSAL, True, BN, WHOLE, P,
    )  # fmt: skip
    tl.store(o + start + at, (total / norm[:, None]).to(o.dtype.element_ty), mask=here)


def attention(q, k, v, o, causal, B, H, S, D, *, BM, BN, num_warps, num_stages):
    if not B or not H or not S or not D:
        return
    padded = max(16, triton.next_power_of_2(D))
    if q.element_size() > 2 or padded > 128:
        BM, BN, num_stages = 32, 32, 1
    tiles[(triton.cdiv(S, BM) * B * H,)](
        q, k, v, o, 1.4426950408889634 * D**-0.5, S, D, CAUSAL=bool(causal), BM=BM, BN=BN,
        P=padded, WHOLE=padded == D, num_warps=num_warps, num_stages=num_stages,
    )  # fmt: skip
