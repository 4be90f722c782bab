"""The command line as a person starts it: another process, a folder and a store of its own."""

import json
import os
import subprocess
import sys

import pytest

ISOLATED = [sys.executable, "-I", "-c", "import kernelwright"]
TASK = """
name = "poly"
entry = "poly"
summary = "A polynomial of every element"
[axes]
N = "free"
[[inputs]]
name = "x"
shape = ["N"]
dtype = "float32"
[[outputs]]
name = "y"
shape = ["N"]
dtype = "float32"
[work]
flops = "10*N"
[[workloads]]
name = "tiny"
device = "cpu"
role = "smoke"
axes = { N = 77 }
[[workloads]]
name = "small"
device = "cpu"
role = "main"
axes = { N = 262144 }
"""
REFERENCE = """
def poly(xp, x):
    y = 0.5 * x + 0.25
    for factor in (0.75, 1.5, 0.125, 2.0):
        y = y * x + factor
    return y
"""
GOOD = """// /// kernelwright
// strategy = "one pass: no temporaries"
// tune.THREADS = [1, 2]
// where = ["THREADS <= cores"]
// ///
#include <cstdint>
extern "C" int poly(const float* x, float* y, int64_t N) {
#pragma omp parallel for simd num_threads(THREADS)
  for (int64_t i = 0; i < N; ++i) {
    const float v = x[i];
    y[i] = ((((0.5f * v + 0.25f) * v + 0.75f) * v + 1.5f) * v + 0.125f) * v + 2.0f;
  }
  return 0;
}
"""
SLOW = """#include <cmath>
#include <cstdint>
extern "C" int poly(const float* x, float* y, int64_t N) {
  for (int64_t i = 0; i < N; ++i) {
    const double v = x[i];
    double sum = 0.25;
    for (int k = 0; k < 40; ++k) sum += 0.25 * std::pow(std::fabs(v) + 1.0, 1e-9 * k) / 40.0;
    y[i] = (float)(((((0.5 * v + 0.25) * v + 0.75) * v + 1.5) * v + 0.125) * v + 1.5 + sum);
  }
  return 0;
}
"""


class Folder:
    """Where the command line is started."""

    def __init__(self, path):
        self.path = path
        self.environment = {
            **{
                name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ
            },
            "HOME": str(path / "home"),
            "KERNELWRIGHT_STORE": str(path / "runs.db"),
            "KERNELWRIGHT_CACHE": str(path / "cache"),
        }

    def start(self, *words, **environment):
        return subprocess.Popen(
            [sys.executable, "-m", "kernelwright", *map(str, words)],
            cwd=self.path,
            env=self.environment | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *words, **environment):
        """Exit code, standard output, standard error."""
        process = self.start(*words, **environment)
        try:
            out, err = process.communicate(timeout=170)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            pytest.fail(f"{' '.join(map(str, words))} hangs: {err}")
        assert "Traceback" not in err, err
        return process.returncode, out, err

    def json(self, *words, **environment):
        """Exit code and the JSON object."""
        code, out, err = self.run(*words, "--json", **environment)
        assert out.count("\n") == 1, out + err
        return code, json.loads(out)

    def write(self, name, text):
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return name


@pytest.fixture(scope="session", autouse=True)
def _installed():
    if subprocess.run(ISOLATED, capture_output=True).returncode:
        pytest.skip("kernelwright is not installed for isolated processes")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = Folder(tmp_path_factory.mktemp("e2e"))
    made.write("poly/task.toml", TASK)
    made.write("poly/reference.py", REFERENCE)
    made.write("good.cpp", GOOD)
    made.write("slow.cpp", SLOW)
    return made
