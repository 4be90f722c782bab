"""A numpy reference that asks for float32 by name gets float64 while the truth is computed.

Ordinary code accumulates in ``np.zeros(n, np.float32)``. Its answer would be called exact and err
by as much as a candidate may, and a better kernel would be wrong. What is asked for by a string,
or was bound as a default before, stays as it is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

_NARROW = (np.float16, np.float32)


class _Wide(ModuleType):
    """numpy, with float64 in the place of narrower floats."""

    def __init__(self) -> None:
        super().__init__("numpy")

    def __getattr__(self, name: str) -> Any:
        return _widened(getattr(np, name))


_WIDE = _Wide()


@contextmanager
def widened(module: ModuleType) -> Iterator[None]:
    """While the body runs, the module's own names for narrow floats mean float64."""
    names = vars(module)
    before = {name: value for name, value in names.items() if _widened(value) is not value}
    names.update({name: _widened(value) for name, value in before.items()})
    try:
        yield
    finally:
        names.update(before)


def _widened(value: Any) -> Any:
    if value is np:
        return _WIDE
    narrow = any(value is one for one in _NARROW)
    same = isinstance(value, np.dtype) and value in _NARROW
    return np.dtype(np.float64) if same else np.float64 if narrow else value
