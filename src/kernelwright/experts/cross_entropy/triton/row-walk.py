# /// kernelwright
# strategy = "row walk: a row is read once, maximum and sum online in every lane"
# tune.BLOCK = [2048, 4096, 8192]
# tune.STAGES = [1, 3, 4]
# tune.num_warps = [8, 4, 16]
# cures = ["repeated reads", "memory bandwidth"]
# ///
import triton
import triton.language as tl

FLOOR = tl.constexpr(-3.4028234663852886e38)  # finite: a row of -inf still ends as 0 / 0


@triton.jit
def walked(logits, labels, loss, V, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    number = tl.program_id(0).to(tl.int64)
    row = logits + number * V
    label = tl.load(row + tl.load(labels + number)).to(tl.float32)
    at = tl.arange(0, BLOCK)
    tops = tl.full((BLOCK,), FLOOR, tl.float32)
    sums = tl.zeros((BLOCK,), tl.float32)
    for start in tl.range(0, V, BLOCK, num_stages=STAGES):
        inside = start + at < V
        some = tl.load(row + start + at, inside, -float("inf"), eviction_policy="evict_first")
        some = some.to(tl.float32)
        larger = tl.maximum(tops, some)
        sums = sums * tl.exp(tops - larger) + tl.exp(some - larger)
        tops = larger
    top = tl.max(tops, 0)
    total = tl.sum(sums * tl.exp(tops - top), 0)
    tl.store(loss + number, (tl.log(total) - (label - top)).to(loss.dtype.element_ty))


def cross_entropy(logits, labels, loss, N, V, *, BLOCK, STAGES, num_warps):
    if N > 0 and V > 0:
        walked[(N,)](logits, labels, loss, V, BLOCK=BLOCK, STAGES=STAGES, num_warps=num_warps)
