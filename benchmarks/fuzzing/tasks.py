"""Tasks and settings: files that a user got from somebody else."""

import os
import random
import tempfile
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from benchmarks.fuzzing import making
from benchmarks.fuzzing.parser import Parser
from kernelwright import settings
from kernelwright.errors import TaskError
from kernelwright.tasks import contract, foreign, kernelbench, load, native
from kernelwright.tasks.format import Spec

TASK = """name = "twice"
entry = "twice"
summary = "Every element doubled"
accumulate = "float32"
precision = ["bfloat16"]
[types]
T = "float32"
[axes]
M = "free"
N = "fixed"
K = "cdiv(N, 2)"
[[inputs]]
name = "x"
shape = ["M", "N"]
dtype = "T"
values = { kind = "integers", low = 0, high = "N" }
[[outputs]]
name = "y"
shape = ["M", "2*K"]
dtype = "T"
[[scalars]]
name = "eps"
dtype = "float32"
value = 1e-6
[tolerance]
k = 4.0
[work]
flops = "5*M*N"
[[workloads]]
name = "cpu-7x257"
device = "cpu"
role = "main"
axes = { M = 7, N = 257 }
types = { T = "float16" }
"""
TASK_WORDS = (
    "M = 10000000000",
    "N = -1",
    '"M*M*M*M"',
    '"K"',
    "[axes]\n",
    "[[workloads]]\n",
    'K = "K"',
    'dtype = "bool"',
    "axes = 3",
    "[a",
    "a.b = 1\n",
    'kind = "given"',
    "k = nan",
    "k = inf",
    "value = 9e999",
    'name = ""',
    'role = "smoke"',
)
REFERENCE = '''"""Doubles."""
import numpy as np

def twice(xp, x, eps):
    """Every element."""
    return 2 * x
'''
MODEL = '''"""A file of the benchmark."""
import torch

class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()

    def forward(self, x):
        return 2 * x

def get_inputs():
    return [torch.rand(16, 16)]

def get_init_inputs():
    return [3]
'''
PYTHON_WORDS = (
    "def twice(",
    "class Model",
    "def get_inputs",
    "lambda: ",
    "(((",
    "\\\n",
    "f'{",
    "\t",
    "import torch\n",
    "async def twice(",
    "    ",
    "if 1:\n",
    ":=",
    "@x\n",
    "'" * 3,
)
DESCRIPTION: dict[str, Any] = {
    "kind": "kernelbench",
    "inputs": [
        {"name": "x", "shape": [16, 16], "dtype": "float32"},
        {"name": "w", "shape": [16], "dtype": "int64", "values": {"kind": "normal", "std": 0.1}},
    ],
    "outputs": [{"name": "out", "shape": [16, 16], "dtype": "float32"}],
    "scalars": [{"name": "eps", "dtype": "float32", "value": 0.1}],
}
SETTINGS = """minutes = 2.5
evaluations = 30
language = ["cpp"]
store = "~/runs.db"
cache = "cache"
sandbox = "auto"
seed = 3
"""
SHARED = f"[tool.kernelwright]\n{SETTINGS}"
SETTINGS_WORDS = (
    "tool = 3\n",
    "[tool]\nkernelwright = []\n",
    "[tool.kernelwright]\n",
    "store = 3\n",
    'store = "~nobody/x"\n',
    'cache = "\\u0000"\n',
    "minutes = nan\n",
    "seed = -1\n",
    "minutes = inf\n",
    "language = 3\n",
    "threads = 99999999999\n",
    "[[tool]]\n",
)
NAMES = ("softmax", "suite:softmax", "./task", "kernel.cpp", "file.py:twice", "task.toml", "a/b.py")
NAME_WORDS = (
    "/",
    "..",
    ":",
    ".py",
    ".toml",
    "\0",
    "~",
    "/etc/shadow",
    "/etc/ssl/private/x",
    "a" * 300,
)


class File:
    """A file in memory, as far as readers of tasks look at one."""

    def __init__(self, name: str, files: dict[str, str]) -> None:
        self.name, self._files = name, files

    def __truediv__(self, name: str) -> "File":
        return File(name, self._files)

    def __str__(self) -> str:
        return self.name

    def is_file(self) -> bool:
        return self.name in self._files

    def open(self, mode: str) -> BytesIO:
        if self.name not in self._files:
            raise FileNotFoundError(2, "No such file", self.name)
        return BytesIO(self._files[self.name].encode("utf-8", "surrogatepass"))


@cache
def folder() -> Path:
    """An empty folder, removed when this process ends."""
    made = tempfile.TemporaryDirectory(prefix="kernelwright-fuzz-")
    _kept.append(made)
    return Path(made.name)


_kept: list[tempfile.TemporaryDirectory[str]] = []


def _task(files: dict[str, str]) -> object:
    found = native.read_folder(File("folder", files), "twice")  # type: ignore[arg-type]
    for one in found.workloads:
        contract.resolve(found, one)
    return contract.prototype(found, "cpp"), contract.prototype(found, "torch")


def _toml(chance: random.Random) -> dict[str, str]:
    return {
        "task.toml": making.text(chance, (TASK,), TASK_WORDS), "reference.py": REFERENCE,
        "baseline.cpp": "int twice();",
    }  # fmt: skip


def _reference(chance: random.Random) -> dict[str, str]:
    return {"task.toml": TASK, "reference.py": making.text(chance, (REFERENCE,), PYTHON_WORDS)}


def _kernelbench(source: str) -> object:
    path = folder() / "model.py"
    path.write_bytes(source.encode("utf-8", "surrogatepass"))
    spec, reader = Spec(str(path)), kernelbench.KernelBench()
    if not reader.matches(spec):
        raise TaskError("it is something else")
    found = reader.read(spec, lambda request: DESCRIPTION, None)
    return contract.prototype(found, "torch")


def _built(description: Any) -> object:
    reference = {"entry": "Model", "source": MODEL, "path": "model.py", "fused": False}
    found = foreign.build(description, name="model", entry="model", summary="", reference=reference)
    for one in found.workloads:
        contract.resolve(found, one)
    return contract.prototype(found, "cpp")


def _settings(given: tuple[str, str]) -> object:
    home, before = folder() / "settings", Path.cwd()
    home.mkdir(exist_ok=True)
    name, text = given
    path = home / name
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        os.chdir(home)
        return settings.explain()
    finally:
        os.chdir(before)
        path.unlink()


def _setting(chance: random.Random) -> tuple[str, str]:
    name, example = chance.choice((("kernelwright.toml", SETTINGS), ("pyproject.toml", SHARED)))
    return name, making.text(chance, (example,), SETTINGS_WORDS)


def _named(word: str) -> object:
    return load.load_task(word, inspector=lambda request: DESCRIPTION)


PARSERS = (
    Parser("task.toml", _toml, _task),
    Parser("reference.py", _reference, _task),
    Parser(
        "KernelBench file", lambda chance: making.text(chance, (MODEL,), PYTHON_WORDS), _kernelbench
    ),
    Parser("answer to inspect", lambda chance: making.value(chance, DESCRIPTION), _built),
    Parser("settings file", _setting, _settings),
    Parser("name of a task", lambda chance: making.text(chance, NAMES, NAME_WORDS), _named),
)
