"""Candidates in Python on the command line: judged, searched from, shipped."""

from importlib.util import find_spec

import pytest

pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")

FAST = '''# /// kernelwright
# strategy = "machine code of its own: one pass"
# tune.FLAGS = ["-O3 -march=native -fopenmp", "-O1"]
# ///
import ctypes
import pathlib
import subprocess

SOURCE = r"""#include <cstdint>
extern "C" int poly(const float* x, float* y, int64_t N) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < N; ++i) {
    const float v = x[i];
    y[i] = ((((0.5f * v + 0.25f) * v + 0.75f) * v + 1.5f) * v + 0.125f) * v + 2.0f;
  }
  return 0;
}
"""
BUILT = {}


def built(flags):
    if flags not in BUILT:
        pathlib.Path("poly.cpp").write_text(SOURCE)
        command = ["g++", *flags.split(), "-shared", "-fPIC", "poly.cpp", "-o", "poly.so"]
        subprocess.run(command, check=True)
        BUILT[flags] = ctypes.CDLL(str(pathlib.Path("poly.so").resolve())).poly
    return BUILT[flags]


def poly(x, y, N, *, FLAGS):
    return built(FLAGS)(
        ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), ctypes.c_int64(N)
    )
'''


def test_a_file_that_does_not_fit_says_how(folder):
    file = folder.write("bad.py", "def poly(x, y):\n    pass\n")
    code, said = folder.json("evaluate", "poly", file, "--rung", "draft")
    assert (code, said["outcome"]) == (3, "signature_error")
    assert said["evidence"]["hint"] == "poly(x, y, N)"
    file = folder.write("worse.py", "def poly(x, y, N):\n    y = = x\n")
    code, said = folder.json("evaluate", "poly", file, "--rung", "draft")
    assert (code, said["outcome"]) == (3, "parse_error")
    assert said["reason"].startswith("line 2: ")


def test_the_prototype_can_be_asked_for(folder):
    code, out, _ = folder.run("tasks", "show", "poly", "--contract", "torch")
    assert code == 0
    assert out.splitlines()[-1] == "def poly(x, y, N): ..."


def test_a_search_starts_from_python_and_what_is_shipped_passes_again(folder):
    file = folder.write("fast.py", FAST)
    code, found = folder.json(
        "optimize", "poly", "--start", file, "--proposer", "tune", "--effort", "quick",
        "--evaluations", 8,
    )  # fmt: skip
    assert code == 0, found
    assert found["best"]["language"] == "torch"
    assert found["best"]["source_path"].endswith(".py")
    _, _, said = folder.run("runs", "show", found["run"])
    assert f"kernelwright ship {found['run']} --as file --to poly.py" in said
    code, shipped = folder.json("ship", found["run"], "--to", "out/poly.py")
    assert code == 0
    code, verdict = folder.json("evaluate", "poly", shipped["files"][0], "--rung", "smoke")
    assert (code, verdict["outcome"]) == (0, "passed"), verdict
    assert "tune." not in (folder.path / "out/poly.py").read_text()
