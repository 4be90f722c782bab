"""Which commands a job consists of: flags, macros, what a header may ask for."""

import ast
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.errors import UsageError
from kernelwright.languages import allowed
from kernelwright.languages.compilation import missing_library
from kernelwright.languages.cpp_commands import job
from kernelwright.languages.macros import literal
from kernelwright.languages.toolchain import Toolchain, find

GCC = Toolchain("g++", "/usr/bin/g++", "gcc", "g++ 12", "yes", "id")
CLANG = Toolchain("clang++", "/usr/bin/clang++", "clang", "clang 14", "no -lomp", "id")


def test_fast_math_is_for_compiling_never_for_linking():
    compile_, link = job("", GCC, {}, flags=("-ffast-math", "-O3")).commands
    assert "-ffast-math" in compile_
    assert not any("math" in option or option.startswith("-O") for option in link)


def test_libraries_are_linked():
    _, link = job("", GCC, {}, needs=("openblas", "mvec")).commands
    assert link.index("kernel.o") < link.index("-lopenblas") < link.index("-lmvec")


def test_each_family_gets_what_it_knows():
    gcc, clang = (job("", tool, {}).commands for tool in (GCC, CLANG))
    assert "-fno-tree-pre" in gcc[0]
    assert "-fno-tree-pre" not in clang[0]
    assert "-fopenmp" in gcc[0]
    assert "-fopenmp" in gcc[1]
    assert "-fopenmp" not in clang[0] + clang[1]
    assert "-fopenmp-simd" in clang[0]


def test_a_contract_is_read_before_the_source():
    made = job("", GCC, {}, prototype="int f();")
    assert "int f();" in made.contract
    assert made.commands[0][made.commands[0].index("-include") + 1] == "contract.h"
    assert "-include" not in job("", GCC, {}).commands[0]


def test_tunables_become_macros_in_a_fixed_order():
    first = job("", GCC, {"B": 2, "A": 1}).commands[0]
    assert [option for option in first if re.match("-D[^_]", option)] == ["-DA=1", "-DB=2"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, "3"),
        (-3, "(-3)"),
        (True, "1"),
        (False, "0"),
        (0.5, "0.5"),
        (-1e-30, "(-1e-30)"),
        ("row", '"row"'),
        ('a"b', '"a\\042b"'),
        ("a\\??)", '"a\\134\\077\\077\\051"'),
        ("é", '"\\303\\251"'),
    ],
)
def test_macros(value, expected):
    assert literal(value) == expected


@given(st.text(st.characters(codec="utf-8"), max_size=50))
def test_a_text_cannot_leave_its_quotes(text):
    written = literal(text)
    assert re.fullmatch(r'"(?:[A-Za-z0-9_ ./+-]|\\[0-7]{3})*"', written)
    assert ast.literal_eval("b" + written).decode() == text


@pytest.mark.parametrize(
    "flag",
    ["-ffast-math", "-funroll-loops", "-fno-tree-vectorize", "-mprefer-vector-width=512", "-O2"],
)
def test_flags_that_are_allowed(flag):
    assert allowed.CPP.refusal((flag,), ()) is None


@pytest.mark.parametrize(
    "flag",
    [
        "-fplugin=x.so", "-B/tmp", "-include/etc/passwd", "-I/", "-Wl,-rpath,/tmp", "-o", "@file",
        "-x", "-specs=a", "-wrapper", "-fno-PIC", "-mprefer-vector-width=512,x",
        "-fno-x -fplugin=y", "-ffast-math\n-fplugin=x", "", "-march=skylake", "-O2;",
    ],
)  # fmt: skip
def test_other_flags_are_refused(flag):
    refusal = allowed.CPP.refusal((flag,), ())
    assert refusal is not None
    assert repr(flag) in refusal.reason


def test_unknown_libraries_are_refused_with_the_nearest():
    refusal = allowed.CPP.refusal((), ("openblass",))
    assert refusal is not None
    assert refusal.hint == "did you mean 'openblas'?"


@pytest.mark.parametrize("name", ["rm", "nvcc", "sh -c g++", "g++;x", "/tmp/evil"])
def test_only_compilers_that_we_can_drive(name):
    with pytest.raises(UsageError, match="unknown compiler"):
        find(name)


@pytest.mark.parametrize(
    ("needs", "code", "library"),
    [
        (("dnnl",), 11, "dnnl"),
        (("openblas", "dnnl"), 11, "dnnl"),
        (("dnnl",), 10, ""),  # nothing was linked: the source said so
        (("openblas",), 11, ""),  # nobody asked for it
        ((), 11, ""),
        (("dnnl",), 0, ""),
        (("dnnl",), None, ""),
    ],
)
def test_a_library_is_missing_where_the_link_failed_and_the_header_needs_it(needs, code, library):
    made = job("", GCC, {}, needs=needs)
    assert missing_library(made, code, "/usr/bin/ld: cannot find -ldnnl: No such file\n") == library


def test_what_is_shown_as_allowed_is_all_that_is():
    for flag in (
        *allowed.CPP.flags, "-ffp-contract=", "-fvect-cost-model=", "gnu++", "c++17", "c++23",
        "-O1", "-O3", "-mno-", "-fno-", "-mprefer-vector-width=",
    ):  # fmt: skip
        assert flag in allowed.CPP.in_words
