"""A candidate in Python: its module, and the function or the model in it that is called.

A function of the task's name gets inputs, outputs, scalars and axes, and writes the outputs. For
a task in KernelBench's format there may be a model instead, see ``model.py``.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from model import NAME, Model, Rehearsal  # type: ignore[import-not-found]
from refusal import Refusal, theirs  # type: ignore[import-not-found]
from tensors import Arenas, number, touch  # type: ignore[import-not-found]

MODULE = "kernel"


def load(message: dict[str, Any]) -> Function | Model:
    """Execute the file that ``message`` names and find what is to be called.

    Args:
        message: ``library`` (the file), ``entry``, ``tunables``, and ``model`` (see
            :class:`model.Model`; None: the function is called, which needs less beside its calls).

    Raises:
        Refusal: it raises, exits, or defines nothing that can be called.
    """
    names = _executed(message["library"])
    entry, interface = names.get(message["entry"]), message["model"]
    if interface is None and callable(entry):
        return Function(entry, message["tunables"])
    if interface is None or NAME not in names:
        wanted = message["entry"] if interface is None else NAME
        raise Refusal("missing_symbol", f"the file defines no {wanted} that can be called")
    if "unsupported" in interface:
        raise Refusal("unavailable", f"{NAME} cannot be built here: {interface['unsupported']}")
    return Model(names[NAME], interface, message["tunables"])


def rehearsal(interface: dict[str, Any] | None) -> Function | Model:
    """What stands in for a candidate while the handling of its calls is measured.

    Args:
        interface: as ``model`` of :func:`load`; a model's results are copied, which takes longest.
    """
    if interface is None or "unsupported" in interface:
        return Function(touch, {})
    return Rehearsal(interface)


def _executed(path: str) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location(MODULE, path)
    if spec is None or spec.loader is None:
        raise Refusal("load_failed", "the file is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[MODULE] = module
    with theirs("the file"):
        spec.loader.exec_module(module)
    return vars(module)


class Function:
    """A function that writes its outputs.

    Args:
        entry: the function.
        tunables: passed by name.
    """

    def __init__(self, entry: Callable[..., Any], tunables: dict[str, Any]) -> None:
        self._entry = entry
        self._tunables = tunables
        self._calls: list[Callable[[], Any]] = []

    def bind(self, slots: list[list[dict[str, Any]]], arenas: Arenas) -> None:
        """Prepare one call for each slot."""
        self._calls = []
        for slot in slots:
            values = [
                arenas.tensor(one) if one["t"] == "tensor" else number(one)
                for one in slot
                if one["t"] != "strides"
            ]
            self._calls.append(partial(self._entry, *values, **self._tunables))

    def hold(self, count: int) -> None:
        """Nothing: the outputs are ours."""

    def prepare(self, slot: int) -> Callable[[], Any]:
        """What to call for one slot."""
        return self._calls[slot]

    def finish(self, slot: int, result: Any) -> tuple[int, int]:
        """The error code that a call returned, and 0 nanoseconds of work left undone.

        Raises:
            Refusal: it returned something else.
        """
        if result is None:
            return 0, 0
        if type(result) is not int:
            text = f"the entry returned a {type(result).__name__}, not None"
            raise Refusal("signature", text, "write the results into the output arguments")
        return result, 0
