"""The task: what to compute, on which inputs, how exactly."""

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from kernelwright import expressions
from kernelwright.records.base import Record

DType = Literal[
    "float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2",
    "int64", "int32", "int16", "int8", "uint8", "bool",
]  # fmt: skip
DTYPES: tuple[str, ...] = DType.__args__  # type: ignore[attr-defined]
Accumulate = Literal["float64", "float32", "float16", "bfloat16"]
Device = Literal["cpu", "gpu"]
Role = Literal["smoke", "main", "extra"]
LowerType = Literal["float16", "bfloat16", "tf32"]
Determinism = Literal["within_tolerance", "bitwise"]
Extent = int | str
"""An axis name, an integer, or an expression over axes."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]


class Values(Record):
    """How the elements of an input are drawn."""

    kind: Literal["normal", "uniform", "integers", "given"] = "normal"
    """``given``: the task's own ``get_inputs`` draws them."""
    mean: float = 0.0
    std: float = 1.0
    low: float | str = 0.0
    high: float | str = 1.0
    """Exclusive for integers; may be an expression over axes."""


class Argument(Record):
    """What tensors and scalars share."""

    name: Name
    dtype: str
    """A concrete dtype or a type variable of the task."""


class Tensor(Argument):
    """One tensor argument."""

    shape: tuple[Extent, ...]
    strided: bool = False
    """The candidate also receives the strides, in elements."""
    values: Values = Values()


class Scalar(Argument):
    """One number passed by value."""

    value: float | int | bool


class Workload(Record):
    """One size at which the task is judged."""

    name: str
    device: Device
    role: Role
    axes: dict[str, int] = {}
    types: dict[str, str] = {}
    scalars: dict[str, float | int | bool] = {}
    alignment: int = 64
    """Bytes to which tensors are aligned."""


class Tolerance(Record):
    """The rule of comparison: error at most ``max(k * e0, ulps * ulp of the scale)``."""

    k: float = Field(default=4.0, gt=0)
    ulps: float = Field(default=2.0, ge=1)


class Work(Record):
    """How much the obvious algorithm does, as expressions over axes."""

    flops: str | None = None
    min_flops: str | None = None
    """A proven minimum, if there is one; of operations, only these can make a time implausible."""


class Reference(Record):
    """The user's definition of the right answer; run by the oracle, never by a candidate."""

    kind: Literal["array", "numpy", "torch", "kernelbench"]
    """array: ``f(xp, ...)`` on the array API standard; numpy/torch: a plain callable;
    kernelbench: ``Model``, ``get_inputs``, ``get_init_inputs``."""
    entry: str
    source: str = Field(repr=False)
    """The text of the file, kept so that an old run can be audited."""
    path: str = ""
    """Where the text came from; its folder is importable by the oracle."""
    fused: bool = False
    """The file also defines ``fused(torch, ...)``: the framework's single call."""


class Task(Record):
    """What to compute."""

    name: str
    entry: Name
    op: str = ""
    """The operation, for which expert kernels may exist; empty if unknown."""
    summary: str = ""
    accumulate: Accumulate = "float32"
    """The type in which an honest serial evaluation sums."""
    types: dict[str, str] = {}
    axes: dict[str, str] = {}
    """``free``, ``fixed``, or an expression over other axes."""
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...] = Field(min_length=1)
    scalars: tuple[Scalar, ...] = ()
    workloads: tuple[Workload, ...] = Field(min_length=1)
    tolerance: Tolerance = Tolerance()
    precision: tuple[LowerType, ...] = ()
    """Lower types in which a candidate may compute."""
    determinism: Determinism = "within_tolerance"
    library: Literal["label", "forbid"] = "label"
    work: Work = Work()
    reference: Reference
    baseline: str = Field("", repr=False)
    """A plain correct C++ loop by the candidate's contract, or empty."""

    @field_validator("axes")
    @classmethod
    def _axes_are_words_or_expressions(cls, axes: dict[str, str]) -> dict[str, str]:
        for name, kind in axes.items():
            if not re.fullmatch(r"[A-Za-z_]\w*", name):
                raise ValueError(f"axis {name!r} is not a name")
            if kind not in ("free", "fixed"):
                unknown = expressions.names(kind) - set(axes)
                if unknown:
                    raise ValueError(f"axis {name!r} uses unknown {sorted(unknown)}")
        return axes

    @model_validator(mode="after")
    def _names_agree(self) -> "Task":
        items: tuple[Argument, ...] = (*self.inputs, *self.outputs, *self.scalars)
        arguments = [item.name for item in items]
        arguments += [name for name, kind in self.axes.items() if kind in ("free", "fixed")]
        repeated = {name for name in arguments if arguments.count(name) > 1}
        if repeated:
            raise ValueError(f"argument names used twice: {sorted(repeated)}")
        for variable, dtype in self.types.items():
            if dtype not in DTYPES:
                raise ValueError(f"type {variable!r} = {dtype!r} is not one of {', '.join(DTYPES)}")
        for item in items:
            if item.dtype not in DTYPES and item.dtype not in self.types:
                raise ValueError(f"{item.name!r} has unknown dtype {item.dtype!r}")
        for tensor in (*self.inputs, *self.outputs):
            for extent in tensor.shape:
                unknown = expressions.names(extent) - set(self.axes)
                if unknown:
                    raise ValueError(f"shape of {tensor.name!r} uses unknown {sorted(unknown)}")
        for workload in self.workloads:
            self._check_workload(workload)
        return self

    def _check_workload(self, workload: Workload) -> None:
        wanted = {name for name, kind in self.axes.items() if kind in ("free", "fixed")}
        if set(workload.axes) != wanted:
            raise ValueError(
                f"workload {workload.name!r} gives axes {sorted(workload.axes)}, "
                f"the task has {sorted(wanted)}"
            )
        for axis, extent in workload.axes.items():
            if extent < 0:
                raise ValueError(f"workload {workload.name!r}: axis {axis} is negative")
        for variable, dtype in workload.types.items():
            if variable not in self.types or dtype not in DTYPES:
                raise ValueError(f"workload {workload.name!r}: bad type {variable} = {dtype!r}")
        unknown = set(workload.scalars) - {scalar.name for scalar in self.scalars}
        if unknown:
            raise ValueError(f"workload {workload.name!r}: unknown scalars {sorted(unknown)}")


class Shaped(Record):
    """A tensor argument with everything known."""

    name: str
    shape: tuple[int, ...]
    dtype: DType
    strided: bool = False
    values: Values = Values()
    strides: tuple[int, ...] | None = None
    """In elements; None means contiguous."""


class Case(Record):
    """One workload with every shape, dtype and scalar resolved; what is really run."""

    workload: str
    device: Device
    inputs: tuple[Shaped, ...]
    outputs: tuple[Shaped, ...]
    scalars: tuple[Scalar, ...]
    axes: dict[str, int]
    """Passed axes only, in the order of the contract."""
    alignment: int = 64
    note: str = ""
    """For edge cases: what is special."""
