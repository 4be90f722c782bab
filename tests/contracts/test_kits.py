"""Every part that the package ships keeps the contract that its kind's kit states."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from kernelwright import plugins
from kernelwright.languages.cpp import Cpp
from kernelwright.languages.cuda import Cuda
from kernelwright.languages.torch import Torch
from kernelwright.proposers.experts import Experts
from kernelwright.proposers.tune import Tune
from kernelwright.records.task import Reference
from kernelwright.search.parents.greedy import Greedy
from kernelwright.ship import file, kernelbench
from kernelwright.tasks.callable import PythonCallable
from kernelwright.tasks.format import Spec
from kernelwright.tasks.kernelbench import KernelBench
from kernelwright.tasks.load import load_task
from kernelwright.tasks.native import Native
from kernelwright.testing.executors import ExecutorContract
from kernelwright.testing.exporters import ExporterContract
from kernelwright.testing.formats import FormatContract
from kernelwright.testing.languages import LanguageContract
from kernelwright.testing.parents import ParentsContract
from kernelwright.testing.proposers import ProposerContract
from kernelwright.testing.simulated import made_up_task
from tests.device import test_local_executor

ROOT = Path(__file__).parents[2]
MODEL = """class Model:
    def forward(self, x):
        return x


def get_inputs():
    return [[1.0]]
"""


class TestCpp(LanguageContract):
    name = "cpp"
    entry = "scale"
    source = """// /// kernelwright
// tune.FACTOR = [2, 3]
// ///
extern "C" int scale(const float* x, float* y, long n) {
  for (long i = 0; i < n; ++i) y[i] = FACTOR * x[i];
  return 0;
}
"""
    broken = "extern int scale( {"

    def make(self, cache):
        return Cpp(cache=cache)


class TestCuda(LanguageContract):
    name = "cuda"
    entry = "scale"
    source = """// /// kernelwright
// tune.FACTOR = [2, 3]
// ///
#ifndef DTYPE_T
#define DTYPE_T float
#endif
__global__ void each(const DTYPE_T* x, DTYPE_T* y) {
  y[blockIdx.x] = static_cast<float>(FACTOR) * static_cast<float>(x[blockIdx.x]);
}
extern "C" int scale(const DTYPE_T* x, DTYPE_T* y, int64_t N, cudaStream_t stream) {
  each<<<N, 1, 0, stream>>>(x, y);
  return cudaGetLastError();
}
"""
    broken = "extern int scale( {"

    def make(self, cache):
        return Cuda(cache=cache)


class TestTorch(LanguageContract):
    name = "torch"
    entry = "scale"
    source = """# /// kernelwright
# tune.FACTOR = [2, 3]
# ///
def scale(x, y, n, *, FACTOR):
    y.copy_(FACTOR * x)
"""
    broken = "def scale(x, y, n, *, FACTOR:"

    def make(self, cache):
        return Torch(cache=cache)


class Described(FormatContract):
    """A format whose files are run by the oracle; here nobody runs them."""

    def inspect(self, request):
        assert "class Model" in request["source"]
        return {
            "kind": "kernelbench",
            "inputs": [{"name": "x", "shape": [2, 3], "dtype": "float32"}],
            "outputs": [{"name": "out", "shape": [2], "dtype": "float32"}],
            "scalars": [],
        }


class TestNative(FormatContract):
    def make(self):
        return Native()

    def write(self, folder):
        builtin = files("kernelwright") / "suites" / "core" / "softmax"
        for name in ("task.toml", "reference.py", "baseline.cpp"):
            (folder / name).write_text((builtin / name).read_text())
        return Spec(str(folder))

    def damaged(self, folder):
        self.write(folder)
        text = (folder / "task.toml").read_text()
        (folder / "task.toml").write_text(text.replace("= ", "is ", 1))
        return Spec(str(folder / "task.toml"))


class TestKernelBench(Described):
    def make(self):
        return KernelBench()

    def write(self, folder):
        (folder / "model.py").write_text(MODEL)
        return Spec(str(folder / "model.py"))

    def damaged(self, folder):
        (folder / "model.py").write_text(MODEL + "def (:\n")
        return Spec(str(folder / "model.py"))


class TestPythonCallable(Described):
    def make(self):
        return PythonCallable()

    def write(self, folder):
        (folder / "model.py").write_text(MODEL)
        return Spec(f"{folder / 'model.py'}:Model")

    def damaged(self, folder):
        (folder / "model.py").write_text(MODEL.replace("get_inputs", "got_inputs"))
        return Spec(f"{folder / 'model.py'}:Model")


class TestFile(ExporterContract):
    def make(self):
        return file.export


class TestKernelBenchModule(ExporterContract):
    def make(self):
        return kernelbench.export

    def task(self):
        reference = Reference(kind="kernelbench", entry="Model", source=MODEL)
        return made_up_task().model_copy(update={"reference": reference})


class TestExperts(ProposerContract):
    def task(self):
        return load_task("softmax", inspector=None)

    def make(self, context):
        return Experts(context)


class TestTune(ProposerContract):
    def make(self, context):
        return Tune(context)


class TestGreedy(ParentsContract):
    def make(self, seed):
        return Greedy(seed)


KITS = {
    "languages": LanguageContract,
    "formats": FormatContract,
    "exporters": ExporterContract,
    "proposers": ProposerContract,
    "parents": ParentsContract,
    "executors": ExecutorContract,
}
HELD = {
    ("languages", "cpp"): TestCpp,
    ("languages", "cuda"): TestCuda,
    ("languages", "torch"): TestTorch,
    ("formats", "native"): TestNative,
    ("formats", "kernelbench"): TestKernelBench,
    ("formats", "python"): TestPythonCallable,
    ("exporters", "file"): TestFile,
    ("exporters", "kernelbench"): TestKernelBenchModule,
    ("proposers", "experts"): TestExperts,
    ("proposers", "tune"): TestTune,
    ("parents", "greedy"): TestGreedy,
    # It times kernels, so its test is among those that hold the device.
    ("executors", "local"): test_local_executor.TestLocal,
}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in plugins.BUILT_IN.items() for name in names]
)
def test_every_part_is_held_to_the_kit_of_its_kind(kind, name):
    assert issubclass(HELD[kind, name], KITS[kind])


def test_the_guide_names_every_kind_and_its_kit():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for kind, kit in KITS.items():
        row = re.compile(rf"^\|.*`kernelwright\.{kind}`.*`{kit.__name__}`", re.MULTILINE)
        assert row.search(text), kind
