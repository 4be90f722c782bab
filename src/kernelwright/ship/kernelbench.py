"""The winner as ``class ModelNew``: what a KernelBench task expects as a solution.

The file holds the task's own text, so that ``ModelNew`` is a ``Model`` with the same parameters
drawn in the same order, and the kernel's source. C++ is compiled when the file is imported and
called through ctypes: no header of the framework is compiled, so an import takes a second, not a
minute. It refuses inputs and arguments of the constructor that the kernel was not judged for: they
may be constants in it. A winner that is a ``ModelNew``
already is handed over as it is.
"""

from kernelwright.errors import UsageError
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.task import Case, Task
from kernelwright.search.summary import RunSummary
from kernelwright.ship import file, python
from kernelwright.tasks import contract

C_TYPES = {
    "float64": "c_double", "float32": "c_float", "int64": "c_int64", "int32": "c_int32",
    "int16": "c_int16", "int8": "c_int8", "uint8": "c_uint8", "bool": "c_bool",
}  # fmt: skip
"""Scalars; a type that is missing here is narrow and passed as float."""

CPP = """

# ---------------------------------------------------------------- the kernel
import ctypes as _ctypes
import pathlib as _pathlib
import subprocess as _subprocess
import tempfile as _tempfile

_KERNEL_SOURCE = {source}
_BUILD = {build}
_SCALARS = {scalars}
_AXES = {axes}


def _build_kernel():
    with _tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        source, library = _pathlib.Path(folder, "kernel.cpp"), _pathlib.Path(folder, "kernel.so")
        source.write_text(_KERNEL_SOURCE, encoding="utf-8")
        command = [*_BUILD, "-o", str(library), str(source)]
        done = _subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError("the kernel cannot be built: " + done.stderr)
        library = _ctypes.CDLL(str(library))
    kernel, size = getattr(library, {entry!r}), 0
    scratch = []
    if {workspace}:
        measure = getattr(library, {entry!r} + "_workspace")
        measure.argtypes, measure.restype = [_ctypes.c_int64] * len(_AXES), _ctypes.c_int64
        size, scratch = max(measure(*_AXES), 1), [_ctypes.c_void_p]
    pointers = [_ctypes.c_void_p] * (len(_INPUTS) + len(_OUTPUTS))
    numbers = [getattr(_ctypes, name) for name in _SCALARS]
    kernel.argtypes = [*pointers, *numbers, *[_ctypes.c_int64] * len(_AXES), *scratch]
    kernel.restype = _ctypes.c_int
    return kernel, size


_kernel, _scratch_bytes = _build_kernel()


def _run(tensors, outputs, numbers):
    pointers = [tensor.data_ptr() for tensor in (*tensors, *outputs)]
    scratch = _torch.empty(_scratch_bytes, dtype=_torch.uint8)
    extra = [scratch.data_ptr()] if _scratch_bytes else []
    return _kernel(*pointers, *numbers, *_AXES, *extra)
"""
PYTHON = """

# ---------------------------------------------------------------- the kernel
import linecache as _linecache
import types as _types

_KERNEL_SOURCE = {source}
_AXES = {axes}
_NAME = "<kernel of kernelwright>"
_linecache.cache[_NAME] = (len(_KERNEL_SOURCE), None, _KERNEL_SOURCE.splitlines(True), _NAME)
_module = _types.ModuleType("kernelwright_kernel")
exec(compile(_KERNEL_SOURCE, _NAME, "exec"), _module.__dict__)


def _run(tensors, outputs, numbers):
    return _module.{entry}(*tensors, *outputs, *numbers, *_AXES) or 0
"""
TABLES = """

# ---------------------------------------------------------------- what it was judged for
import inspect as _inspect

import torch as _torch

_INPUTS = {inputs}
_OUTPUTS = {outputs}
_NUMBERS = {numbers}
_ALIGNMENT = {alignment}
"""
MODEL = '''

def _usable(tensor, name, shape, dtype):
    if tensor.device.type != "cpu" or str(tensor.dtype) != dtype or tuple(tensor.shape) != shape:
        raise ValueError(
            f"{name} is {tuple(tensor.shape)} {tensor.dtype} on {tensor.device}; "
            f"this kernel was made for {shape} {dtype} on the CPU"
        )
    tensor = tensor.detach().contiguous()
    return tensor if tensor.data_ptr() % _ALIGNMENT == 0 else tensor.clone()


def _constructed(arguments, named):
    """What a constructor gets, by name; tensors are left out, for a state holds them."""
    bound = _inspect.signature(Model).bind(*arguments, **named)
    bound.apply_defaults()
    found = bound.arguments.items()
    return {name: one for name, one in found if not isinstance(one, _torch.Tensor)}


def _judged():
    """What the Model that the kernel was made for was constructed with."""
    with _torch.random.fork_rng(devices=[]):
        given = get_init_inputs() if "get_init_inputs" in globals() else []
    return _constructed((), given) if isinstance(given, dict) else _constructed(given, {})


class ModelNew(Model):
    """The same parameters as Model; forward is one kernel. For inference: it has no gradient."""

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        given, judged = _constructed(arguments, named), _judged()
        if given != judged:
            raise ValueError(
                f"this kernel was made for a Model constructed with {judged}, not with {given}: "
                "what a constructor is given may be part of it"
            )

    def forward(self, *arguments, **named):
        given = _inspect.signature(super().forward).bind(*arguments, **named).arguments.values()
        values = [one for item in given for one in (item if isinstance(item, tuple) else (item,))]
        tensors = [value for value in values if isinstance(value, _torch.Tensor)]
        numbers = [value for value in values if not isinstance(value, _torch.Tensor)]
        if _torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
            raise RuntimeError("this kernel has no gradient; use it under torch.no_grad()")
        state = self.state_dict()
        learnt = [name for name, _ in self.named_parameters()]
        tensors += [state[name] for name in learnt if name in state]
        tensors += [tensor for name, tensor in state.items() if name not in learnt]
        if len(tensors) != len(_INPUTS) or len(numbers) != _NUMBERS:
            raise TypeError(
                f"this kernel takes {len(_INPUTS)} tensors and {_NUMBERS} numbers, "
                f"not {len(tensors)} and {len(numbers)}"
            )
        tensors = [_usable(tensor, *wanted) for tensor, wanted in zip(tensors, _INPUTS)]
        outputs = [
            _torch.empty(shape, dtype=getattr(_torch, dtype.partition(".")[2]))
            for _, shape, dtype in _OUTPUTS
        ]
        status = _run(tensors, outputs, numbers)
        if status != 0:
            raise RuntimeError(f"the kernel returned error {status}")
        return outputs[0] if len(outputs) == 1 else tuple(outputs)
'''


def export(summary: RunSummary) -> dict[str, str]:
    """Files by name: one Python module.

    Raises:
        UsageError: the task is not in KernelBench format, the run has no confirmed winner, or the
            winner is no kernel for the CPU.
    """
    task = summary.task
    if task.reference.kind != "kernelbench":
        raise UsageError(
            f"task {task.name!r} is not in KernelBench format",
            hint=f"kernelwright ship {summary.run.id} --as file",
        )
    best, confirmed = file.winner(summary)
    comment = file.comment(summary, "#")
    if best.language == "torch" and not python.is_function(best, task.entry):
        text = f"{comment}\n{python.fixed(best, task.entry)}"
    elif best.language in ("cpp", "torch"):
        text = module(task, best, confirmed, comment)
    else:
        raise UsageError(f"--as kernelbench cannot wrap a {best.language} candidate yet")
    return {f"{task.name}_new.py": text}


def module(task: Task, best: Candidate, confirmed: Evaluation, comment: str) -> str:
    """The text of the module.

    Args:
        task: in KernelBench format; its text is kept as it is.
        best: a C++ candidate, or a function in Python.
        confirmed: says with what it was built.
        comment: lines for the top of the file.

    Raises:
        UsageError: the task has no CPU workload, or a strided tensor.
    """
    chosen = contract.workload(task, "cpu")
    if chosen is None:
        raise UsageError(f"task {task.name!r} has no CPU workload")
    case = contract.resolve(task, chosen)
    if any(item.strided for item in (*case.inputs, *case.outputs)):
        raise UsageError("--as kernelbench cannot pass strides")
    axes = repr(list(case.axes.values()))
    if best.language == "torch":
        source = _literal(python.fixed(best, task.entry))
        kernel = PYTHON.format(source=source, entry=task.entry, axes=axes)
    else:
        kernel = CPP.format(
            source=_literal(file.fixed(best)),
            build=repr(file.build_words(confirmed)),
            entry=task.entry,
            scalars=repr([C_TYPES.get(one.dtype, "c_float") for one in case.scalars]),
            workspace=contract.wants_workspace(task, best.source),
            axes=axes,
        )
    return f"{comment}\n{task.reference.source.rstrip()}\n{_tables(case)}{kernel}{MODEL}"


def _tables(case: Case) -> str:
    return TABLES.format(
        inputs=_rows([(one.name, one.shape, f"torch.{one.dtype}") for one in case.inputs]),
        outputs=_rows([(one.name, one.shape, f"torch.{one.dtype}") for one in case.outputs]),
        numbers=len(case.scalars),
        alignment=repr(case.alignment),
    )


def _rows(rows: list[tuple[str, tuple[int, ...], str]]) -> str:
    return "[\n" + "".join(f"    {row!r},\n" for row in rows) + "]"


def _literal(source: str) -> str:
    """The source as Python text that a person can read, where quoting allows it."""
    plain = "'''" not in source and not source.endswith(("'", "\\"))
    return f"r'''\n{source}'''" if plain else repr(source)
