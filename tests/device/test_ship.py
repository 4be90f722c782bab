"""What is shipped builds by its own command and computes the right thing."""

import ctypes
import dataclasses
import importlib.util
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.ship import file, kernelbench
from kernelwright.tasks.load import load_task
from tests import samples

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

MODEL = '''"""A scaled linear layer."""

from __future__ import annotations

import torch


class Model(torch.nn.Module):
    def __init__(self, wide: int, narrow: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(wide, narrow)
        self.register_buffer("shift", torch.arange(narrow, dtype=torch.float32))

    def forward(self, x, scale):
        return self.linear(x) * scale + self.shift


def get_inputs():
    return [torch.randn(6, 5), 0.5]


def get_init_inputs():
    return [5, 3]
'''
KERNEL = """// /// kernelwright
// strategy = "plain"
// tune.BIAS = [0, 1]
// ///
#include <cstdint>
PROTOTYPE {
  // a raw string keeps \\n and ' as they are
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 3; ++j) {
      double sum = BIAS ? BIAS_NAME[j] : 0.0f;
      for (int k = 0; k < 5; ++k) sum += (double)X[i * 5 + k] * WEIGHT[j * 5 + k];
      OUT[i * 3 + j] = (float)(sum * SCALE + SHIFT[j]);
    }
  return 0;
}
"""


def test_the_file_builds_by_its_own_command(tmp_path):
    text = file.export(samples.summary())["twice.cpp"]
    (tmp_path / "twice.cpp").write_text(text)
    command = next(line for line in text.splitlines() if line.startswith("// Build: "))
    subprocess.run(shlex.split(command.removeprefix("// Build: ")), cwd=tmp_path, check=True)
    kernel = ctypes.CDLL(str(tmp_path / "libtwice.so")).twice
    x, y = np.arange(9, dtype=np.float32), np.zeros(9, np.float32)
    pointer = ctypes.POINTER(ctypes.c_float)
    assert kernel(x.ctypes.data_as(pointer), y.ctypes.data_as(pointer), ctypes.c_int64(9)) == 0
    assert np.array_equal(y, 2 * x)


SCRATCH = """
extern "C" int64_t scaled_linear_workspace() { return 18 * sizeof(double); }
"""


PYTHON = """# /// kernelwright
# strategy = "plain"
# tune.BIAS = [0, 1]
# ///
import torch


def scaled_linear(X, WEIGHT, BIAS_NAME, SHIFT, OUT, SCALE, *, BIAS):
    torch.matmul(X, WEIGHT.t(), out=OUT)
    OUT.add_(BIAS_NAME * BIAS).mul_(SCALE).add_(SHIFT)
"""


@pytest.fixture(params=["plain", "with scratch", "in Python"])
def shipped(tmp_path, request):
    """The module made for MODEL, imported, and torch."""
    torch = pytest.importorskip("torch", reason="needs torch")
    from kernelwright.tasks import contract

    path = tmp_path / "scaled_linear.py"
    path.write_text(MODEL)
    with Oracle() as oracle:
        task = load_task(str(path), inspector=oracle.inspect)
    names = [one.name for one in (*task.inputs, *task.outputs, *task.scalars)]
    assert len(names) == 6, names
    x, weight, bias, shift, out, scale = names
    scratch = request.param == "with scratch"
    prototype = contract.prototype(task, "cpp", workspace=scratch).rstrip(";")
    source = KERNEL.replace("PROTOTYPE", prototype)
    if scratch:
        source = source.replace(
            "double sum =", "double& sum = ((double*)workspace)[i * 3 + j]; sum ="
        )
        source += SCRATCH
    language = "torch" if request.param == "in Python" else "cpp"
    source = PYTHON if language == "torch" else source
    words = {
        "BIAS_NAME": bias, "WEIGHT": weight, "SHIFT": shift, "OUT": out, "SCALE": scale, "X": x,
    }  # fmt: skip
    for word, name in words.items():
        source = source.replace(word, name)
    who = make_candidate(source, language, {"BIAS": 1})
    summary = dataclasses.replace(
        samples.summary(found=samples.evaluation(who)), task=task, best=who
    )
    (text,) = kernelbench.export(summary).values()
    made = tmp_path / "made.py"
    made.write_text(text)
    spec = importlib.util.spec_from_file_location("made", made)
    module = importlib.util.module_from_spec(spec)
    sys.modules["made"] = module
    spec.loader.exec_module(module)
    yield module, torch
    del sys.modules["made"]


def pair(module, torch):
    """Model and ModelNew as KernelBench makes them: one seed each."""
    made = []
    for kind in (module.Model, module.ModelNew):
        torch.manual_seed(3)
        made.append(kind(*module.get_init_inputs()))
    return made


def test_model_new_stands_in_for_model(shipped):
    module, torch = shipped
    model, new = pair(module, torch)
    assert list(model.state_dict()) == list(new.state_dict())
    with torch.no_grad():
        for seed in range(3):
            torch.manual_seed(seed)
            inputs = module.get_inputs()
            torch.testing.assert_close(new(*inputs), model(*inputs))
        x, scale = module.get_inputs()
        torch.testing.assert_close(new(x, scale=scale), model(x, scale))
        strided = torch.randn(5, 6).t()
        torch.testing.assert_close(new(strided, 2.0), model(strided, 2.0))
        unaligned = torch.randn(31)[1:].reshape(6, 5)
        torch.testing.assert_close(new(unaligned, 2.0), model(unaligned, 2.0))


def test_model_new_follows_its_parameters(shipped):
    module, torch = shipped
    model, new = pair(module, torch)
    with torch.no_grad():
        model.linear.weight.mul_(3)
        new.load_state_dict(model.state_dict())
        inputs = module.get_inputs()
        torch.testing.assert_close(new(*inputs), model(*inputs))


def test_model_new_refuses_what_was_not_judged(shipped):
    module, torch = shipped
    _, new = pair(module, torch)
    with torch.no_grad():
        with pytest.raises(ValueError, match=r"\(7, 5\).* made for \(6, 5\)"):
            new(torch.randn(7, 5), 0.5)
        with pytest.raises(ValueError, match="float64"):
            new(torch.randn(6, 5, dtype=torch.float64), 0.5)
    with pytest.raises(ValueError, match=r"'narrow': 3.* not with .*'narrow': 4"):
        module.ModelNew(5, narrow=4)
    assert module.ModelNew(narrow=3, wide=5)
    with pytest.raises(RuntimeError, match="no gradient"):
        new(torch.randn(6, 5, requires_grad=True), 0.5)


def test_the_evidence_is_on_top(shipped):
    module, _ = shipped
    text = Path(module.__file__).read_text()
    top = text.partition('"""A scaled')[0]
    assert "# 2.00x [1.96, 2.04] against numpy" in top
    assert MODEL.strip() in text
    assert all(line.startswith("#") for line in top.strip().splitlines())


AS_IT_IS = """# /// kernelwright
# tune.BIAS = [0, 1]
# ///
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow, *, BIAS):
        super().__init__()
        self.linear = torch.nn.Linear(wide, narrow, bias=bool(BIAS))
"""


def test_a_model_is_handed_over_as_it_is(tmp_path):
    torch = pytest.importorskip("torch", reason="needs torch")
    path = tmp_path / "scaled_linear.py"
    path.write_text(MODEL)
    with Oracle() as oracle:
        task = load_task(str(path), inspector=oracle.inspect)
    who = make_candidate(AS_IT_IS, "torch", {"BIAS": 1})
    summary = dataclasses.replace(
        samples.summary(found=samples.evaluation(who)), task=task, best=who
    )
    (text,) = kernelbench.export(summary).values()
    assert text.splitlines()[0].startswith("# scaled_linear")
    names = {}
    exec(text, names)
    assert isinstance(names["ModelNew"](5, 3).linear.bias, torch.nn.Parameter)
    assert "class Model(" not in text
