"""Checks what the user's reference returned and left, because everything else trusts it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernelwright.evaluation.arena import numpy_dtype
from kernelwright.evaluation.oracle.fault import Fault
from kernelwright.records.task import Case

Array = NDArray[Any]
REPEATABLE = 1e-6
"""Relative difference between two float64 evaluations that is still rounding, not chance."""


def check(part: str, case: Case, contents: Mapping[str, Array], found: list[Array]) -> None:
    """Whether the outputs are what the task declares.

    Raises:
        Fault: another number, shape or kind of outputs, or NaN made of finite inputs.
    """
    if len(found) != len(case.outputs):
        raise Fault(
            "count",
            f"the reference returned {len(found)} outputs, the task has {len(case.outputs)}",
        )
    for item, array in zip(case.outputs, found, strict=True):
        if array.shape != item.shape:
            raise Fault(
                "shape", f"output {item.name!r} has shape {array.shape}, declared is {item.shape}"
            )
        wanted, got = numpy_dtype(item.dtype), array.dtype
        exactly = part == "native" and wanted.itemsize >= 4
        if family(wanted) != family(got) or (exactly and wanted != got):
            raise Fault("dtype", f"output {item.name!r} is {got}, declared is {item.dtype}")
    if part != "truth":
        return
    for item, array in zip(case.outputs, found, strict=True):
        undefined = family(array.dtype) == "float" and np.isnan(array).any()
        if undefined and all(_finite(one) for one in contents.values()):
            raise Fault("nan", f"output {item.name!r} holds NaN although all inputs are finite")


def check_repeatable(case: Case, first: list[Array], second: list[Array]) -> None:
    """Whether two evaluations of the same inputs agree.

    Raises:
        Fault: they do not: the reference draws random numbers or keeps state.
    """
    for item, one, other in zip(case.outputs, first, second, strict=True):
        finite = np.isfinite(one)
        scale = float(np.max(np.abs(one), where=finite, initial=0.0)) if one.size else 0.0
        with np.errstate(invalid="ignore"):
            close = (
                np.abs(one - other) <= REPEATABLE * scale if one.dtype.kind != "b" else one == other
            )
        if not np.all(close | (one == other) | ((one != one) & (other != other))):  # noqa: PLR0124
            raise Fault(
                "random", f"output {item.name!r} differs between two evaluations of the same inputs"
            )


def check_unchanged(contents: Mapping[str, Array], left: Mapping[str, Array]) -> None:
    """Whether a reference left its inputs as they were.

    Args:
        contents: what it was given.
        left: what it found there and may have changed, perhaps in a wider type.

    Raises:
        Fault: one was changed: a candidate and a baseline get theirs in memory that cannot be.
    """
    for name, found in left.items():
        given = contents[name]
        same = found.shape == given.shape and bool(
            np.all((found == given) | ((found != found) & (given != given)))  # noqa: PLR0124
        )
        if not same:
            raise Fault("writes", f"the reference writes into its input {name!r}")


def family(dtype: np.dtype[Any]) -> str:
    """What kind of number a type holds."""
    return "integer" if dtype.kind in "iu" else "float" if "float" in dtype.name else dtype.name


def _finite(array: Array) -> bool:
    return family(array.dtype) != "float" or bool(np.isfinite(array).all())
