"""A folder with a task and candidates of its own, and an executor that needs no device."""

import pytest

from kernelwright import plugins
from tests import samples
from tests.fakes import FakeExecutor

TASK = """
name = "twice"
entry = "twice"
summary = "Every element doubled"
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
[[workloads]]
name = "cpu-4096"
device = "cpu"
role = "main"
axes = { N = 4096 }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setitem(plugins.BUILT_IN["executors"], "local", "tests.fakes:FakeExecutor")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNELWRIGHT_STORE", str(tmp_path / "runs.db"))
    FakeExecutor.made.clear()
    task = tmp_path / "twice"
    task.mkdir()
    (task / "task.toml").write_text(TASK)
    (task / "reference.py").write_text("def twice(xp, x):\n    return 2 * x\n")
    (tmp_path / "good.cpp").write_text(samples.SOURCE)
    (tmp_path / "bad.cpp").write_text(samples.SOURCE + "// WRONG\n")
    return tmp_path
