"""A Triton program takes four rows and walks over them in tiles."""

import triton
import triton.language as tl


@triton.jit
def tiles(x, y, M, N, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, N, COLUMNS):
        total += tl.load(x + row[:, None].to(tl.int64) * N + (first + at)[None, :])
    tl.store(y + row, tl.sum(total, 1), mask=row < M)


def row_sum(x, y, M, N, *, ROWS=4, COLUMNS=512, num_warps=4):
    tiles[(M // ROWS,)](x, y, M, N, ROWS=ROWS, COLUMNS=COLUMNS, num_warps=num_warps)
