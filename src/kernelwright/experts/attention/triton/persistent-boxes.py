# /// kernelwright
# strategy = "persistent-boxes: key blocks by the copy engine, a program for each core"
# tune.BM = [128, 64]
# tune.BN = [128, 64]
# tune.num_warps = [8, 4]
# tune.num_stages = [2, 3]
# where = ["(2 * BM + 2 * BN * num_stages) * D * 2 <= 220000"]
# cures = ["memory latency", "compute"]
# ///
import torch
import triton
import triton.language as tl


@triton.jit
def meet(
    total, top, norm, q, k_box, v_box, head, first, last, rows, S, scale,
    CAUSAL: tl.constexpr, MASKED: tl.constexpr, BN: tl.constexpr, P: tl.constexpr,
):  # fmt: skip
    for j in tl.range(first, last, BN):
        k = tl.reshape(k_box.load([head, j, 0]), (BN, P))
        s = tl.dot(q, k.T, input_precision="ieee")
        if MASKED:
            n = j + tl.arange(0, BN)
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
        v = tl.reshape(v_box.load([head, j, 0]), (BN, P))
        total = tl.dot(p.to(v.dtype), v, total, input_precision="ieee")
        top = now
    return total, top, norm


@triton.jit
def walk(
    q, k, v, o, scale, heads, S, D, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    P: tl.constexpr, CORES: tl.constexpr, BAND: tl.constexpr,
):  # fmt: skip
    q_box = tl.make_tensor_descriptor(q, [heads, S, D], [S * D, D, 1], [1, BM, P])
    k_box = tl.make_tensor_descriptor(k, [heads, S, D], [S * D, D, 1], [1, BN, P])
    v_box = tl.make_tensor_descriptor(v, [heads, S, D], [S * D, D, 1], [1, BN, P])
    o_box = tl.make_tensor_descriptor(o, [heads, S, D], [S * D, D, 1], [1, BM, P])
    tall = tl.cdiv(S, BM)
    for tile in tl.range(tl.program_id(0), tall * heads, CORES):
        # Heads in bands whose keys and values fit the cache.
        begin = tile // (BAND * tall) * BAND
        width = min(BAND, heads - begin)
        rest = tile - begin * tall
        row, head = (tall - 1 - rest // width) * BM, begin + rest % width
        m = row + tl.arange(0, BM)
        x = tl.reshape(q_box.load([head, row, 0]), (BM, P))
        top = tl.full((BM,), float("-inf"), tl.float32)
        norm = tl.zeros((BM,), tl.float32)
        total = tl.zeros((BM, P), tl.float32)
        end = min(S, row + BM) if CAUSAL else S
        plain = min(row, S) // BN * BN if CAUSAL else S // BN * BN
        total, top, norm = meet(
            total, top, norm, x, k_box, v_box, head, 0, plain, m, S, scale, CAUSAL, False, BN, P
        )
        total, top, norm = meet(
            total, top, norm, x, k_box, v_box, head, plain, end, m, S, scale, CAUSAL, True, BN, P
        )
        out = (total / norm[:, None]).to(o.dtype.element_ty)
        o_box.store([head, row, 0], tl.reshape(out, (1, BM, P)))


def scratch(size, alignment, stream):
    return torch.empty(size, dtype=torch.int8, device="cuda")


def attention(q, k, v, o, causal, B, H, S, D, *, BM, BN, num_warps, num_stages):
    if not B or not H or not S or not D:
        return
    padded = max(16, triton.next_power_of_2(D))
    if D * q.element_size() % 16:  # the copy engine wants whole vectors: rows with room for them
        wide = [torch.nn.functional.pad(one, (0, padded - D)) for one in (q, k, v)]
        out = torch.empty_like(wide[0])
        launch(*wide, out, causal, B, H, S, padded, D**-0.5, BM, BN, num_warps, num_stages)
        o.copy_(out[..., :D])
        return
    launch(q, k, v, o, causal, B, H, S, D, D**-0.5, BM, BN, num_warps, num_stages)


def launch(q, k, v, o, causal, B, H, S, D, scale, BM, BN, num_warps, num_stages):
    padded = max(16, triton.next_power_of_2(D))
    if q.element_size() > 2 or padded > 128:
        BM, BN, num_stages = 32, 32, 1
    cores = torch.cuda.get_device_properties(q.device).multi_processor_count
    count = min(cores, triton.cdiv(S, BM) * B * H)
    band = max(1, min(B * H, (24 << 20) // (2 * S * D * q.element_size())))
    triton.set_allocator(scratch)
    walk[(count,)](
        q, k, v, o, 1.4426950408889634 * scale, B * H, S, D, CAUSAL=bool(causal), BM=BM, BN=BN,
        P=padded, CORES=count, BAND=band, num_warps=num_warps, num_stages=num_stages,
    )  # fmt: skip
