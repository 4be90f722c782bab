"""Which commands a CUDA job consists of, and what is read in its compilers' words."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.languages import allowed
from kernelwright.languages.compilation import missing_library
from kernelwright.languages.cuda_commands import base_flags, complaint, job, missing_header
from kernelwright.languages.nvcc import Nvcc, Target
from kernelwright.languages.toolchain import Toolchain

GCC = Toolchain("g++", "/usr/bin/g++", "gcc", "g++ 12", "yes", "id")
FOLDERS = ("/opt/cuda/lib/stubs", "/opt/cuda/lib")
HOME = Path("/opt/cuda")
NVCC = Nvcc("/opt/cuda/bin/nvcc", "nvcc 13.0.88 with g++ 12", HOME, FOLDERS, True, GCC, "id")
HOPPER = Target("sm_90a", "as cuda_arch says")
PROTOTYPE = 'extern "C" int scale(const float* x, float* y, int64_t N, cudaStream_t stream);'


def made(source="", tunables=None, **options):
    return job(source, NVCC, HOPPER, tunables or {}, **options)


def test_it_is_compiled_for_one_architecture_only():
    compile_, link = made().commands
    assert compile_[0] == "/opt/cuda/bin/nvcc"
    assert "-gencode=arch=compute_90a,code=sm_90a" in compile_
    assert compile_[compile_.index("-ccbin") + 1] == link[0] == "/usr/bin/g++"
    assert made(source="x").file in compile_


def test_what_is_linked_is_a_plain_library_with_the_runtime_inside():
    _, link = made().commands
    assert {"-shared", "-lcudart_static", "-Wl,-z,defs", "-Wl,--exclude-libs,ALL"} <= set(link)
    assert link.index("kernel.o") < link.index("-lcudart_static")
    assert {f"-L{folder}" for folder in FOLDERS} <= set(link)
    assert not any("rpath" in option for option in link)


def test_libraries_are_linked_and_found_again_when_loaded():
    needy = made(needs=("cublas", "cublasLt"))
    link = needy.commands[-1]
    assert link.index("kernel.o") < link.index("-lcublas") < link.index("-lcublasLt")
    assert "-Wl,-rpath,/opt/cuda/lib" in link
    assert needy.needs == ("-lcublas", "-lcublasLt")


def test_the_contract_has_the_types_the_prototype_and_the_values():
    lines = made(tunables={"B": "a\nb", "A": -1}, prototype=PROTOTYPE).contract.splitlines()
    assert [line for line in lines if line.startswith("#include")] == [
        "#include <cstdint>",
        "#include <cuda_bf16.h>",
        "#include <cuda_fp16.h>",
        "#include <cuda_fp8.h>",
    ]
    assert lines[-3:] == [PROTOTYPE, "#define A (-1)", r'#define B "a\012b"']


@given(st.text(st.characters(codec="utf-8"), max_size=50))
def test_a_text_reaches_no_shell_and_stays_in_its_line(text):
    found = made(tunables={"LABEL": text})
    assert not any("LABEL" in option for command in found.commands for option in command)
    assert re.fullmatch(r'#define LABEL "[^"\n]*"', found.contract.splitlines()[-1])


def test_no_private_folder_gets_into_a_binary():
    (compile_, _), told = made().commands, "-Xcudafe=--orig_src_path_name=/kernel.cu"
    assert told in compile_
    assert told not in job("", replace(NVCC, renames=False), HOPPER, {}).commands[0]
    assert "kernel.cu" in compile_
    assert "/proc/self/cwd/kernel.cu" in made(flags=("-lineinfo",)).commands[0]


def test_another_standard_replaces_ours():
    told = base_flags(HOPPER, ("-std=c++20", "--use_fast_math"))
    assert [flag for flag in told if flag.startswith("-std")] == ["-std=c++20"]
    assert told[-1] == "--use_fast_math"
    assert "-std=c++17" in base_flags(HOPPER)


@pytest.mark.parametrize(
    "flag",
    [
        "--use_fast_math", "-maxrregcount=64", "--maxrregcount=255", "-std=c++20", "-lineinfo",
        "--extra-device-vectorization", "-ftz=true", "--prec-div=false", "-Xptxas=-O1",
        "-Xptxas=--register-usage-level=10", "-Xptxas=-dlcm=cg",
    ],
)  # fmt: skip
def test_flags_that_are_allowed(flag):
    assert allowed.CUDA.refusal((flag,), ()) is None


@pytest.mark.parametrize(
    "flag",
    [
        "-maxrregcount=0", "-maxrregcount=256", "-maxrregcount=64,x", "-std=c++03", "-rdc=true",
        "-Xcompiler=-fplugin=x.so", "-ccbin=/tmp/x", "-include=/etc/passwd", "-I/", "-o", "@file",
        "--options-file=x", "--keep", "-Xptxas=-o,x", "-Xptxas=-O3,-o", "-arch=sm_80", "-run",
        "-cudart=none", "--default-stream=per-thread", "-Xlinker=-rpath=/tmp",
        "--compiler-bindir=/tmp", "-ftz=true;id", "--use_fast_math\n-run", "", "-ffast-math", "-G",
    ],
)  # fmt: skip
def test_other_flags_are_refused(flag):
    refusal = allowed.CUDA.refusal((flag,), ())
    assert refusal is not None
    assert repr(flag) in refusal.reason


def test_what_is_shown_as_allowed_is_all_that_is():
    for flag in (
        *allowed.CUDA.flags, "-maxrregcount=", "c++20", "-ftz=", "-prec-sqrt=", "-fmad=",
        "-Xptxas=", "-dlcm=", "--register-usage-level=", "--allow-expensive-optimizations=",
    ):  # fmt: skip
        assert flag in allowed.CUDA.in_words


SHOWN = '  extern "C" int scale(float* x) {}\n                 ^\n'


@pytest.mark.parametrize(
    ("log", "reason", "conflict"),
    [
        (
            ('kernel.cu(2): error: more than one instance of overloaded function "scale" has "C" '
            f"linkage\n{SHOWN}"),
            'line 2: more than one instance of overloaded function "scale" has "C" linkage',
            True,
        ),
        (
            ('kernel.cu(2): error: more than one instance of overloaded function "other" has "C" '
            'linkage\n  extern "C" int other(float* x) {}\n'),
            'line 2: more than one instance of overloaded function "other" has "C" linkage',
            False,
        ),
        (
            ("kernel.cu(4): error: cannot overload functions distinguished by return type alone\n"
            f"{SHOWN}"),
            "line 4: cannot overload functions distinguished by return type alone",
            True,
        ),
        (
            ('kernel.cu(2): error: expected a ")"\n  x\n  ^\n\nkernel.cu(2): error: more than one '
            f'instance of overloaded function "scale" has "C" linkage\n{SHOWN}'),
            'line 2: expected a ")"',
            False,
        ),
        ("kernel.cu:1:2: error: #error no way\n", "line 1: #error no way", False),
        (
            "kernel.cu:1:10: fatal error: a.h: No such file or directory\n",
            "line 1: a.h: No such file or directory",
            False,
        ),
        (
            "At end of source: error: expected an expression\n",
            "at the end: expected an expression",
            False,
        ),
        (
            ("ptxas error   : Entry function '_Z3bigPf' uses too much shared data (0x3a980 bytes, "
            "0x38c00 max)\n"),
            "Entry function 'big' uses too much shared data (240000 bytes, 232448 max)",
            False,
        ),
        (
            ("ptxas kernel.ptx, line 27; error   : Unknown modifier '.op'\n"
            "ptxas fatal   : Ptx assembly aborted due to errors\n"),
            "Unknown modifier '.op'",
            False,
        ),
        ("ptxas fatal   : Unresolved extern function '_Z1gf'\n",
         "Unresolved extern function 'g'", False),
        ("nvcc fatal   : Unsupported gpu architecture 'compute_42'\n",
         "Unsupported gpu architecture 'compute_42'", False),
        ("", "the compiler failed without a word", False),
    ],
)  # fmt: skip
def test_one_sentence(log, reason, conflict):
    assert complaint(log, "scale") == (reason, conflict)


NO_HEADER = "kernel.cu:3:10: fatal error: cublas_v2.h: No such file or directory\n"


@pytest.mark.parametrize(
    ("needs", "code", "log", "library"),
    [
        (("cublas",), 10, NO_HEADER, "cublas"),
        (("cublas",), 11, NO_HEADER, ""),
        (("cufft",), 10, NO_HEADER, ""),
        ((), 10, NO_HEADER, ""),
        (("cublas",), 10, NO_HEADER.replace("cublas_v2", "nothing"), ""),
        (("cublas",), 10, f'kernel.cu:1:2: error: #error "{NO_HEADER.strip()}"\n', ""),
        (("cublas",), None, NO_HEADER, ""),
    ],
)
def test_a_library_without_its_headers_is_missing_where_the_header_needs_it(
    needs, code, log, library
):
    assert missing_header(made(needs=needs), code, log) == library


def test_a_library_that_the_linker_misses_is_one_that_the_header_needs():
    log = "/usr/bin/ld: cannot find -lcublas: No such file\n/usr/bin/ld: cannot find -lrt\n"
    assert missing_library(made(needs=("cublas",)), 11, log) == "cublas"
    assert missing_library(made(), 11, log) == ""
