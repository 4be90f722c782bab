"""Candidates: their headers, values, text, and what compilers and Python's parser say of them."""

import itertools
import random
import struct
import sys
from pathlib import Path

from benchmarks.fuzzing import making
from benchmarks.fuzzing.parser import Parser
from kernelwright import expressions
from kernelwright.candidates import header
from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.candidates.settle import settle
from kernelwright.candidates.tunables import space
from kernelwright.languages import allowed, compiler_log, cuda_commands, elf, kept, ptxas
from kernelwright.languages.python_form import MODEL, Wanted, misfit
from kernelwright.ship.header import without_header

PACKAGE = Path(header.__file__).parents[1]
sys.path.append(str(PACKAGE / "jail"))
import parse as jailed  # type: ignore[import-not-found]  # noqa: E402 - elsewhere by name

HEADER = """// /// kernelwright
// strategy = "held row: written once"
// tune.HELD = [4096, 1024, 2048]
// tune.FAST = [true, false]
// tune.NAME = ["a", "b"]
// tune.HALF = "cdiv(N, 2)"
// where = ["HELD <= max(4096, next_pow2(N))", "HELD * cores <= 10**6"]
// cures = ["memory bandwidth"]
// flags = ["-ffast-math"]
// needs = ["openblas"]
// ///
#include <cstdint>
#define TWICE(a) (2 * (a))
extern "C" int twice(const float* x, float* y, int64_t N) {
  for (int64_t i = 0; i < N; ++i) y[i] = TWICE(x[i]); /* R"(raw)" */
  return 0;
}
"""
MODULE = '''"""A kernel in Python."""
import torch
from torch import nn

WIDTH: int = 3


def twice(x, y, N, *, BLOCK=8):
    """Doubles."""
    y.copy_(2 * x)


class ModelNew(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, x):
        return [one for one in (x, lambda: f"{x!r:>{WIDTH}}")][0] * 2
'''
PYTHON = (
    HEADER.split("#include", maxsplit=1)[0].replace("//", "#", 1).replace("\n//", "\n#") + MODULE
)
FORMULAS = ("cdiv(N, 2) * next_pow2(M) - 1", "min(M, 3) <= N and not M == 2", "2**M // 7 % 5", "-N")
FORMULA_WORDS = (
    "M",
    "N",
    "cdiv(",
    "next_pow2(",
    "min(",
    "max(",
    "abs(",
    "**",
    "//",
    "%",
    " if ",
    " and ",
    " or ",
    "not ",
    "==",
    "<",
    "1e308*",
    "lambda:",
    "f''",
    "0.5",
    "~",
)
HEADER_WORDS = (
    "// /// kernelwright\n",
    "// ///\n",
    "// tune.A = [",
    '// where = ["',
    "tune.",
    "[[tune]]",
    "tune = 3\n",
    "// needs = [1]\n",
    '"""',
    '// tune.B = "1/0"\n',
)
PYTHON_WORDS = (
    "def ",
    "class ModelNew",
    "lambda ",
    "async ",
    "await ",
    "yield ",
    "match x:\n",
    "f'{",
    "global x\n",
    "return\n",
    "@",
    "*, ",
    "/, ",
    "**k",
    "...",
    " if ",
    ":=",
    "from __future__ import annotations\n",
    "\n    ",
    "with (a, ",
    "# coding: cp037\n",
)
LOG = """kernel.cpp:3:10: error: 'foo' was not declared in this scope
./kernel-abc.o: undefined reference to `bar'
kernel.cpp:7:3: optimized: loop vectorized using 32 byte vectors
kernel.cpp:9:1: remark: vectorized loop (width: 8) [-Rpass=loop-vectorize]
collect2: error: ld returned 1 exit status
g++: internal compiler error: Killed signal terminated program cc1plus
"""
LOG_WORDS = (
    "kernel.cpp:",
    "error: ",
    ": remark: ",
    "./kernel-",
    "./ccabcdef.",
    "ended by signal ",
    "undefined reference to ",
    ":1: optimized: loop vectorized",
    "fatal error: ",
)
ASSEMBLER = """ptxas info    : Compiling entry function '_ZN4deep4rowsILi2ELb1EEEvPf' for 'sm_90a'
ptxas info    : Function properties for _ZN4deep4rowsILi2ELb1EEEvPf
    656 bytes stack frame, 1516 bytes spill stores, 1688 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 656 bytes cumulative stack size, 16 bytes smem
ptxas error   : Entry function '_Z3bigPf' uses too much shared data (0x3a980 bytes, 0x38c00 max)
kernel.cu(2): error: more than one instance of overloaded function "twice" has "C" linkage
"""
ASSEMBLER_WORDS = (
    "ptxas info    : ", "ptxas fatal   : ", "'_Z", "ILi", "E", "9", "0x", " bytes smem",
    "kernel.cu(", "error: ", "Function properties for ",
)  # fmt: skip
FLAGS = ("-ffast-math", "-fno-inline", "-mno-avx512f", "-O3", "-mprefer-vector-width=256")


def _library() -> bytes:
    """A small ELF library with two functions, made by hand: no compiler is needed here."""
    names = b"\0twice\0helper\0"
    symbols = b"".join(
        struct.pack("<IBBHQQ", at, 0x12, 0, 1, 0x1000, 16) for at in (1, names.index(b"h"))
    )
    start = 64
    sections = [
        struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        struct.pack("<IIQQQQIIQQ", 0, 11, 0, 0, start, len(symbols), 2, 0, 8, 24),
        struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, start + len(symbols), len(names), 0, 0, 1, 0),
    ]
    body = symbols + names
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head = struct.pack(
        "<16sHHIQQQIHHHHHH", ident, 3, 62, 1, 0, 0, start + len(body), 0, 64, 0, 0, 64, 3, 0
    )
    return head + body + b"".join(sections)


LIBRARY = _library()
VALUES = {"M": 7, "N": 4096, "cores": 2}


def _header(chance: random.Random) -> str:
    return making.text(chance, (HEADER,), HEADER_WORDS)


def _python(chance: random.Random) -> str:
    return making.text(chance, (PYTHON, MODULE), PYTHON_WORDS)


def _points(source: str) -> object:
    found = space(header.parse(source, "cpp"), VALUES)
    return list(itertools.islice(found.points(), 20))


def _settled(source: str) -> object:
    return without_header(settle(source, "cpp", {"HELD": 1024}), "//")


def _made(language: str, source: str) -> object:
    found = make_candidate(source, language, {"HELD": 1024, "FAST": True, "NAME": "a", "HALF": 1})
    return found.model_dump_json()


def _described(source: str) -> object:
    facts = jailed.described(source.encode("utf-8", "replace"), "twice", MODEL)
    wanted = Wanted.of("def twice(x, y, N): ...\nclass ModelNew:\n    def forward(self, x): ...\n")
    return "error" in facts or misfit(facts, "twice", wanted, {"BLOCK"})


def _log(text: str) -> object:
    log, remarks = compiler_log.split_remarks(compiler_log.clean(text, Path("/tmp/kernel")))
    return compiler_log.reason(log), compiler_log.vectorised(remarks or log, HEADER)


def _assembled(text: str) -> object:
    log = compiler_log.clean(text, Path("/tmp/kernel"))
    names = [ptxas.readable(one.name) for one in ptxas.kernels(log)]
    return names, cuda_commands.complaint(log, "twice"), kept.Facts(log, kernels=ptxas.kernels(log))


def _words(chance: random.Random) -> tuple[str, ...]:
    return tuple(making.text(chance, (*FLAGS, "openblas")) for _ in range(3))


PARSERS = (
    Parser("header, C++", _header, lambda text: header.parse(text, "cpp")),
    Parser("header, Python", _python, lambda text: header.parse(text, "torch")),
    Parser("values of tunables", _header, _points),
    Parser("values written back", _header, _settled),
    Parser("candidate, C++", _header, lambda text: _made("cpp", text)),
    Parser("candidate, Python", _python, lambda text: _made("torch", text)),
    Parser("form of a Python file", _python, _described),
    Parser("flags and libraries", _words, lambda words: allowed.CPP.refusal(words, words)),
    Parser(
        "expressions",
        lambda chance: making.text(chance, FORMULAS, FORMULA_WORDS),
        lambda text: expressions.evaluate_int(text, VALUES),
        (expressions.ExpressionError,),
    ),
    Parser("compiler log", lambda chance: making.text(chance, (LOG,), LOG_WORDS), _log),
    Parser(
        "assembler's log",
        lambda chance: making.text(chance, (ASSEMBLER,), ASSEMBLER_WORDS),
        _assembled,
    ),
    Parser(
        "symbols of a library",
        lambda chance: making.binary(chance, LIBRARY),
        elf.exported_functions,
        (ValueError,),
    ),
)
