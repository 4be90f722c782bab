# /// kernelwright
# strategy = "block maximum: a row is read once, one maximum for all lanes of a program"
# tune.BLOCK = [8192, 4096, 2048]
# tune.STAGES = [1, 3, 4]
# tune.num_warps = [8, 4, 16]
# cures = ["special functions", "repeated reads"]
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
    sums = tl.zeros((BLOCK,), tl.float32)
    top = FLOOR
    for start in tl.range(0, V, BLOCK, num_stages=STAGES):
        inside = start + at < V
        some = tl.load(row + start + at, inside, -float("inf"), eviction_policy="evict_first")
        some = some.to(tl.float32)
        larger = tl.maximum(top, tl.max(some, 0))
        sums = sums * tl.exp(top - larger) + tl.exp(some - larger)
        top = larger
    tl.store(loss + number, (tl.log(tl.sum(sums, 0)) - (label - top)).to(loss.dtype.element_ty))


def cross_entropy(logits, labels, loss, N, V, *, BLOCK, STAGES, num_warps):
    if N > 0 and V > 0:
        walked[(N,)](logits, labels, loss, V, BLOCK=BLOCK, STAGES=STAGES, num_warps=num_warps)
