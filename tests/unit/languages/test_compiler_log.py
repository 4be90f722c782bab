"""What is kept of a compiler's words."""

from pathlib import Path

import pytest

from kernelwright.languages import compiler_log

FOLDER = Path("/tmp/kernelwright-build-x1")


def test_private_paths_and_colours_go():
    text = f"\x1b[31m{FOLDER}/kernel.cpp:1:\x1b[0m error\a\n{FOLDER}/ccAb12Cd.s:4: x"
    assert compiler_log.clean(text, FOLDER) == "./kernel.cpp:1: error\nkernel.s:4: x"
    assert compiler_log.clean(f"{Path.home()}/secret", FOLDER) == "~/secret"
    nvcc = f"/proc/self/cwd/kernel.cu(1): error\nptxas {FOLDER}/tmpxft_0a_00-6_kernel.ptx, line 2"
    assert compiler_log.clean(nvcc, FOLDER) == "kernel.cu(1): error\nptxas kernel.ptx, line 2"


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("kernel.cpp:3:5: error: 'x' was not declared\n x\n ^\n", "line 3: 'x' was not declared"),
        ("kernel.cpp:1:10: fatal error: a.h: No such file\n", "line 1: a.h: No such file"),
        ("In file included from kernel.cpp:1:\n/usr/a.h:9:1: error: bad\n", "bad"),
        (
            "error: cannot start /usr/bin/g++: No such file",
            "cannot start /usr/bin/g++: No such file",
        ),
        (
            "kernel.cpp:(.text+0x1): undefined reference to `g'\ncollect2: error: ld returned 1\n",
            "undefined reference to `g'",
        ),
        (
            "/usr/bin/ld: cannot find -lopenblas: No such file\ncollect2: error: x",
            "cannot find -lopenblas",
        ),
        ("cc1plus: out of memory allocating 65536 bytes\n", "the compiler ran out of memory"),
        ("virtual memory exhausted: Cannot allocate memory\n", "the compiler ran out of memory"),
        ("kernel.cpp:1:1: internal compiler error: Segmentation fault\n", "the compiler crashed"),
        ("g++: fatal error: Killed signal terminated program cc1plus\n", "the compiler was killed"),
        ("<command-line>: error: expected ')' before 'x'\n  3 |\n", "expected ')' before 'x'"),
        ("", "the compiler failed without a word"),
        ("something\nodd\n", "odd"),
    ],
)
def test_one_sentence(log, expected):
    assert compiler_log.reason(log) == expected


@pytest.mark.parametrize(
    ("log", "libraries"),
    [
        ("/usr/bin/ld: cannot find -lopenblas: No such file\ncollect2: error: x", ["openblas"]),
        ("/usr/bin/ld: cannot find -lblas\n/usr/bin/ld: cannot find -ltbb\n", ["blas", "tbb"]),
        ("/opt/x/bin/x86_64-linux-gnu-ld: cannot find -lblas\n", ["blas"]),
        ("/usr/bin/ld.gold: error: cannot find -lblas\n", ["blas"]),
        ("ld.lld: error: unable to find library -lmkl_rt\n", ["mkl_rt"]),
        ("kernel.cpp:(.text+0x1): undefined reference to `g'\n", []),
        ("kernel.cpp:(.text+0x1): undefined reference to `cannot find -lblas'\n", []),
        ("kernel.cpp:1:2: error: #error cannot find -lblas\n", []),
    ],
)
def test_libraries_that_the_linker_misses_are_named(log, libraries):
    assert compiler_log.missing_libraries(log) == libraries


def test_loops_are_counted_once_and_pragmas_are_not():
    source = "#pragma omp simd\nfor (;;) x;\nfor (;;) y;\n"
    report = (
        "kernel.cpp:1:11: optimized: loop vectorized using 64 byte vectors\n"
        "kernel.cpp:2:5: optimized: loop vectorized using 64 byte vectors\n"
        "kernel.cpp:2:5: optimized: loop vectorized using 32 byte vectors\n"
        "kernel.cpp:3:5: optimized:  loop versioned for vectorization\n"
        "kernel.cpp:3:5: missed: couldn't vectorize loop\n"
        "/usr/include/a.h:3:5: optimized: loop vectorized using 64 byte vectors\n"
        "kernel.cpp:99:1: optimized: loop vectorized using 64 byte vectors\n"
    )
    assert compiler_log.vectorised(report, source) == 1
    remark = (
        "kernel.cpp:3:5: remark: vectorized loop (vectorization width: 8) [-Rpass=loop-vectorize]"
    )
    assert compiler_log.vectorised(remark, source) == 1


def test_remarks_are_told_from_messages():
    text = "kernel.cpp:1:1: remark: vectorized loop\nkernel.cpp:2:1: warning: odd\n"
    rest, remarks = compiler_log.split_remarks(text)
    assert rest == "kernel.cpp:2:1: warning: odd\n"
    assert remarks == "kernel.cpp:1:1: remark: vectorized loop\n"


def test_what_turns_a_line_around_is_taken_out():
    assert compiler_log.clean("a\u202eb\u2066c\x9b", FOLDER) == "abc"
