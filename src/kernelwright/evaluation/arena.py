"""Shared memory in which the processes of a judge hand tensors to one another.

An arena is one anonymous memory file. Every tensor lies between two guard zones, so that a
write past its end lands where it is noticed, not in a neighbour.
"""

import fcntl
import mmap
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from kernelwright.records.task import Shaped

PAGE = mmap.PAGESIZE
GUARD_BYTES = 4096
SEAL_FUTURE_WRITE = 0x10
"""``F_SEAL_FUTURE_WRITE`` of fcntl(2), which the standard library does not name."""
Array = NDArray[Any]

_SPECIAL: dict[str, Any] = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The numpy dtype of one of our dtype names."""
    found: np.dtype[Any] = np.dtype(_SPECIAL.get(name, name))
    return found


def default_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


@dataclass(frozen=True)
class Placed:
    """Where one tensor lies in an arena."""

    name: str
    offset: int
    """Bytes from the start of the arena."""
    nbytes: int
    """Bytes of storage, gaps of a strided tensor included."""
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...]
    """In elements."""

    def to_json(self) -> dict[str, Any]:
        """A form that survives JSON."""
        return {
            "name": self.name,
            "offset": self.offset,
            "nbytes": self.nbytes,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "strides": list(self.strides),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Placed":
        """The inverse of :meth:`to_json`."""
        return cls(
            name=data["name"],
            offset=data["offset"],
            nbytes=data["nbytes"],
            shape=tuple(data["shape"]),
            dtype=data["dtype"],
            strides=tuple(data["strides"]),
        )


@dataclass(frozen=True)
class Layout:
    """The places of all tensors, in order, and the size of the whole."""

    tensors: tuple[Placed, ...]
    nbytes: int
    fences: tuple[int, ...] = ()
    """Offsets of pages that whoever reads the tensors must not be able to read."""

    def to_json(self) -> dict[str, Any]:
        """A form that survives JSON."""
        return {"nbytes": self.nbytes, "tensors": [item.to_json() for item in self.tensors]}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Layout":
        """The inverse of :meth:`to_json`."""
        tensors = tuple(Placed.from_json(item) for item in data["tensors"])
        return cls(tensors, data["nbytes"])


def storage_elements(shape: tuple[int, ...], strides: tuple[int, ...]) -> int:
    """Elements from the first to the last one addressed."""
    if 0 in shape:
        return 0
    return 1 + sum((extent - 1) * step for extent, step in zip(shape, strides, strict=True))


def plan(
    tensors: Iterable[Shaped], start: int = 0, alignment: int = 64, *, fenced: bool = False
) -> Layout:
    """Places for ``tensors`` from byte ``start`` on.

    Args:
        tensors: what to place, in order.
        start: first byte that may be used; a multiple of the page's size.
        alignment: bytes to which each tensor is aligned *and no more*: at 4, a float tensor
            deliberately lies 4 bytes past a 64-byte boundary.
        fenced: each tensor ends as near as its alignment allows before a page of its own, which
            is to be made unreadable.
    """
    placed, fences, cursor = [], [], start
    for item in tensors:
        strides = item.strides or default_strides(item.shape)
        nbytes = storage_elements(item.shape, strides) * numpy_dtype(item.dtype).itemsize
        offset = cursor + GUARD_BYTES + (alignment if alignment < 64 else 0)
        if fenced:
            fences.append(_pages(offset + nbytes + max(alignment, 64)))
            offset = _before(fences[-1], nbytes, alignment)
            cursor = fences[-1] + PAGE
        else:
            cursor = _pages(offset + nbytes + GUARD_BYTES)
        placed.append(Placed(item.name, offset, nbytes, item.shape, item.dtype, strides))
    return Layout(tuple(placed), cursor, tuple(fences))


def _pages(nbytes: int) -> int:
    return -(-nbytes // PAGE) * PAGE


def _before(fence: int, nbytes: int, alignment: int) -> int:
    """The last place that keeps the alignment, and no more; an empty tensor has a vector's room.

    Of an empty tensor much honest code reads the first element and makes nothing of it.
    """
    last = fence - (nbytes or 64)
    if alignment >= 64:
        return last // alignment * alignment
    last = last // alignment * alignment
    return last - alignment if last % 64 == 0 else last


class Arena:
    """One shared memory file, mapped here.

    Args:
        descriptor: an open memory file; the arena owns it.
        nbytes: its size.
        writable: whether whoever receives the descriptor may write.
    """

    def __init__(self, descriptor: int, nbytes: int, *, writable: bool = True) -> None:
        self.descriptor = descriptor
        self.nbytes = nbytes
        self.writable = writable
        self.fences: tuple[int, ...] = ()
        """Offsets of pages that the receiver is to make unreadable for itself."""
        flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
        prot = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        self._map = mmap.mmap(descriptor, nbytes, flags=flags, prot=prot)
        self.bytes: NDArray[np.uint8] = np.frombuffer(self._map, dtype=np.uint8)

    @classmethod
    def create(cls, nbytes: int, *, sealed: bool = False) -> "Arena":
        """A new arena of zeros, whose size nobody can change.

        Args:
            nbytes: its size.
            sealed: nobody but us can map it for writing, whoever gets the descriptor.

        Raises:
            OSError: there is not enough memory.
        """
        descriptor = os.memfd_create("kernelwright", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        nbytes = max(nbytes, 4096)
        try:
            os.ftruncate(descriptor, nbytes)
        except BaseException:
            os.close(descriptor)
            raise
        arena = cls(descriptor, nbytes)  # owns it from now on, also if it cannot be mapped
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals | (SEAL_FUTURE_WRITE if sealed else 0))
        arena.writable = not sealed
        return arena

    def wire(self) -> dict[str, Any]:
        """What its receiver needs beside the descriptor."""
        return {"nbytes": self.nbytes, "writable": self.writable, "fences": self.fences}

    def view(self, place: Placed) -> Array:
        """The tensor at ``place``, sharing memory with the arena."""
        dtype = numpy_dtype(place.dtype)
        raw = self.bytes[place.offset : place.offset + place.nbytes].view(dtype)
        if place.strides == default_strides(place.shape) or 0 in place.shape:
            return raw.reshape(place.shape)
        steps = tuple(step * dtype.itemsize for step in place.strides)
        return np.lib.stride_tricks.as_strided(raw, place.shape, steps)

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Release the descriptor; the mapping goes when the last view does."""
        # Forgotten first: an interrupt between the two lines must not close it twice.
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)
