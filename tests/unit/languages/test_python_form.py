"""Whether a Python file offers what a task asks for, told from its syntax."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest

from kernelwright import sandbox
from kernelwright.languages.python_form import Wanted, misfit
from kernelwright.tasks import contract
from tests import samples

PARSE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import parse
print(json.dumps(parse.described(sys.stdin.buffer.read(), "twice", "ModelNew")))
"""
FUNCTION = "def twice(x, y, N): ...\n"
MODEL = """
class ModelNew(torch.nn.Module):
    def __init__(self, width): ...
    def forward(self, x): ...
"""


def described(text):
    done = subprocess.run(
        [sys.executable, "-c", PARSE, str(sandbox.JAIL)],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)


def problem(text, prototype=FUNCTION, tunables=()):
    facts = described(text)
    assert "error" not in facts, facts
    return misfit(facts, "twice", Wanted.of(prototype), set(tunables))


FITS = {
    "plain": "def twice(x, y, N): pass",
    "other names": "def twice(a, b, c): pass",
    "more that have defaults": "def twice(x, y, N, block=3): pass",
    "any number": "def twice(*arguments): pass",
    "a value": "twice = make()",
    "imported": "from somewhere import twice",
    "decorated": "@compiled\ndef twice(a): pass",
    "within a condition": "if True:\n    def twice(x, y, N): pass\nelse:\n    twice = None",
    "within a try": "try:\n    pass\nexcept E:\n    def twice(x, y, N): pass",
    "made twice": "def twice(x, y, N, *, W): pass\ntwice = partial(twice, W=3)",
}


@pytest.mark.parametrize("name", FITS)
def test_what_fits(name):
    assert problem(FITS[name]) is None


MISFITS = {
    "missing": ("def twise(x, y, N): pass", "defines no 'twice'", "twise"),
    "too few": ("def twice(x, y): pass", "takes 2 arguments, not 3", "twice(x, y, N)"),
    "too many": ("def twice(x, y, N, M): pass", "takes 4 arguments, not 3", "twice(x, y, N)"),
    "another order": ("\ndef twice(y, x, N): pass", "line 2.*another order", "twice(x, y, N)"),
    "async": ("async def twice(x, y, N): pass", "is async", "plain def"),
    "a class": ("class twice: pass", "is a class", "function"),
    "a number nobody gives": ("def twice(x, y, N, *, W): pass", "wants a value for W", "tune"),
    "a model where there is none": ("class ModelNew: pass", "defines no 'twice'", "KernelBench"),
    "nothing": ("", "defines no 'twice'", "def twice"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_says_how(name):
    text, reason, hint = MISFITS[name]
    found = problem(text)
    assert found is not None
    import re

    assert re.search(reason, found.reason), found
    assert hint in found.hint


def test_tunables_must_be_taken():
    assert problem("def twice(x, y, N, *, W): pass", tunables=["W"]) is None
    assert problem("def twice(x, y, N, W): pass", tunables=["W"]) is None
    assert problem("def twice(x, y, N, **rest): pass", tunables=["W"]) is None
    assert "does not take the tunables W" in problem(FITS["plain"], tunables=["W"]).reason
    model = (
        "class ModelNew(nn.Module):\n    def __init__(self, w{}): pass\n    def forward(self, x): 1"
    )
    assert problem(model.format(", W=1"), FUNCTION + MODEL, ["W"]) is None
    assert "does not take W" in problem(model.format(""), FUNCTION + MODEL, ["W"]).reason


MODELS = {
    "fits": ("class ModelNew(nn.Module):\n    def forward(self, x): pass", ""),
    "inherits its forward": ("class ModelNew(Model): pass", ""),
    "is a value": ("ModelNew = make()", ""),
    "lacks its forward": ("class ModelNew(torch.nn.Module): pass", "has no forward"),
    "takes another number": (
        "class ModelNew(nn.Module):\n    def forward(self): pass",
        "takes 1 argument, not 2",
    ),
    "is missing": ("x = 1", "defines no 'twice' and no ModelNew"),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    text, reason = MODELS[name]
    found = problem(text, FUNCTION + MODEL)
    assert (reason in found.reason) if reason else found is None


NO_PYTHON = {
    "a bracket": ("def twice(", 1),
    "the third line": ("a = 1\nb = 2\nc = = 3", 3),
    "a null byte": ("a = '\0'", 1),
    "return outside": ("return 1", 1),
}


@pytest.mark.parametrize("name", NO_PYTHON)
def test_what_is_no_python_has_a_line(name):
    text, line = NO_PYTHON[name]
    assert described(text)["line"] == line
    assert described(text)["error"]


def test_comments_and_formatting_do_not_count():
    one = described("def twice(x, y, N):\n    return x+y  # sum\n")["digest"]
    assert described("# top\ndef twice(x,\n  y, N):\n\n    return (x + y)")["digest"] == one
    assert described("def twice(x, y, N):\n    return x-y")["digest"] != one


def test_prototypes_are_understood():
    task = samples.task()
    wanted = Wanted.of(contract.prototype(task, "torch"))
    assert wanted == Wanted(("x", "y", "N"), None)
    reference = {
        "kind": "kernelbench",
        "entry": "Model",
        "source": "class Model(M):\n    def __init__(self, a: int = 3): pass\n"
        "    def forward(self, x: T, *, k=1): pass\n",
    }
    bench = samples.task(reference=reference)
    text = contract.prototype(bench, "torch")
    assert "def __init__(self, a=3): ..." in text
    assert "def forward(self, x, *, k=1): ..." in text
    assert Wanted.of(text).forward == ("x",)
    inherited = {**reference, "source": "class Model(M): pass"}
    text = contract.prototype(samples.task(reference=inherited), "torch")
    assert Wanted.of(text) == Wanted(("x", "y", "N"), (), any_forward=True)


def test_the_notes_fill_in_what_is_here():
    from kernelwright.languages.torch import Torch

    notes = Torch().notes()
    assert "ModelNew" in notes
    assert "{" not in notes
    assert importlib.util.find_spec("kernelwright.languages.torch")
