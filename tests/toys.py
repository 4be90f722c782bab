"""Languages of a made-up package, found by its entry points as a third party's would be."""

from __future__ import annotations

import sys
from contextlib import contextmanager

from kernelwright import plugins
from kernelwright.candidates.notation import Notation
from kernelwright.languages.cpp import TYPES, Cpp


class ToyC(Cpp):
    """C++ under other names, built as such: stands for a language of accelerators."""

    name = "toy-c"
    notation = Notation(
        endings=(".toy", ".toyc"),
        comment="--",
        types=TYPES | {"bfloat16": "toy_bfloat16"},
        last="toyStream_t stream",
        device="gpu",
    )


class ToyPy:
    """Kernels that are Python functions."""

    name = "toy-py"
    notation = Notation(endings=(".py",), comment="#")


class ToyTiles:
    """Python too, told from the other by its import."""

    name = "toy-tiles"
    notation = Notation(
        endings=(".py",), comment="#", device="gpu", marker=r"^\s*(import|from) +tiles\b"
    )


@contextmanager
def installed(folder):
    """The three languages, installed in ``folder``."""
    about = folder / "toys-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    lines = [f"{one.name} = tests.toys:{one.__name__}" for one in (ToyC, ToyPy, ToyTiles)]
    text = "\n".join(["[kernelwright.languages]", *lines])
    (about / "entry_points.txt").write_text(text + "\n")
    sys.path.insert(0, str(folder))
    plugins._foreign.cache_clear()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        plugins._foreign.cache_clear()
