"""A small Triton kernel that a worker launches before its candidate is known."""

import triton
import triton.language as tl


@triton.jit
def add_kernel(x, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < count) + 1, mask=at < count)


def add_one(x):
    add_kernel[(1,)](x, x.shape[0], BLOCK=1024)
