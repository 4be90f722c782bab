"""What the probe's candidates compute: shapes, layouts of a slot, which kernel checks an answer."""

from dataclasses import dataclass, field
from typing import Any

MIB = 1 << 20
NAN_BF16, ODD_BF16 = 0x7FC1, 0x4B4B
NAN_F32, ODD_F32 = 0x7FC12345, 0x4B4B4B4B


@dataclass(frozen=True)
class Task:
    """One operation at one size; ``parts`` are the shapes of what lies in an input block."""

    name: str
    entry: str
    dtype: str  # bf16 or f32
    axes: tuple[int, ...]
    parts: tuple[tuple[int, ...], ...]
    out: tuple[int, ...]
    baseline: str
    poisons: tuple[int, int] = field(default=(NAN_BF16, ODD_BF16))

    @property
    def width(self) -> int:
        return 2 if self.dtype == "bf16" else 4

    def count(self, shape: tuple[int, ...]) -> int:
        total = 1
        for n in shape:
            total *= n
        return total

    @property
    def in_elements(self) -> int:
        return sum(self.count(part) for part in self.parts)

    @property
    def out_elements(self) -> int:
        return self.count(self.out)

    @property
    def offsets(self) -> list[int]:
        """Where each input starts in its block, bytes."""
        found, at = [], 0
        for part in self.parts:
            found.append(at)
            at += self.count(part) * self.width
        return found

    def message(self) -> dict[str, Any]:
        """What a worker must know to call a candidate."""
        return {
            "entry": self.entry,
            "axes": self.axes,
            "offsets": self.offsets,
            "shapes": self.parts,
            "out_shape": self.out,
            "dtype": self.dtype,
        }


def softmax(name: str, rows: int, columns: int) -> Task:
    shape = (rows, columns)
    return Task(name, "softmax", "bf16", shape, (shape,), shape, "torch_softmax.py")


def row_sum(name: str, rows: int, columns: int) -> Task:
    shape = (rows, columns)
    poisons = (NAN_F32, ODD_F32)
    return Task(name, "row_sum", "f32", shape, (shape,), (rows,), "torch_row_sum.py", poisons)


def matmul(name: str, n: int) -> Task:
    square = (n, n)
    return Task(name, "matmul", "bf16", (n,), (square, square), square, "torch_matmul.py")


TASKS = {
    task.name: task
    for task in (
        softmax("softmax_large", 8192, 8192),
        softmax("softmax_small", 512, 1024),
        row_sum("row_sum_large", 8192, 8192),
        matmul("matmul_4096", 4096),
    )
}
