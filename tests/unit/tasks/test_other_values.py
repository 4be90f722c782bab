"""Other values of a number that is passed: the type holds them, and tells them from its own."""

from __future__ import annotations

import pytest

from kernelwright.records.task import Scalar
from kernelwright.tasks.other_values import other_values


@pytest.mark.parametrize(
    ("dtype", "value", "others"),
    [
        ("float64", 1.5, [4.0, 0.0, -1.5]),
        ("float32", -1.0, [0.0, 1.0]),
        ("float32", 0.0, [1.0]),
        ("float32", 2.0**127, [0.0, -(2.0**127)]),
        ("float16", 40_000.0, [0.0, -40_000.0]),
        ("bfloat16", 1024.0, [2048.0, 0.0, -1024.0]),
        ("int64", 0, [1]),
        ("int64", 1, [0, 3]),
        ("int32", 3.0, [4, 0, 7]),
        ("int32", -1, [0]),
        ("int32", 2**31 - 1, [0]),
        ("uint8", 255, [0]),
        ("bool", True, [False]),
        ("bool", 0, [True]),
    ],
)
def test_other_values(dtype, value, others):
    assert other_values(Scalar(name="s", dtype=dtype, value=value)) == others
