"""What a language's class says of its text is all that anybody needs to know of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kernelwright import plugins
from kernelwright.candidates.fingerprint import make_candidate, normalised
from kernelwright.candidates.header import parse
from kernelwright.candidates.notation import language_of, notation
from kernelwright.candidates.settle import best_file
from kernelwright.errors import UsageError
from kernelwright.proposers.base import Context
from kernelwright.proposers.experts import defaults
from kernelwright.ship import file
from kernelwright.tasks import contract
from tests import samples

pytestmark = pytest.mark.usefixtures("toy_languages")

TOY = """-- /// kernelwright
-- strategy = "toy rows"
-- tune.ROWS = [1, 2]
-- ///
int twice() { return ROWS; }
"""
PYTHON = "def twice(x, y, N, *, ROWS): ...\n"


@pytest.mark.parametrize(
    ("name", "source", "language"),
    [
        ("a.cpp", "", "cpp"),
        ("a.cc", "", "cpp"),
        ("a.cu", "", "cuda"),
        ("a.toyc", "", "toy-c"),
        ("a.py", "import torch\n", "torch"),
        ("a.py", "import numpy\nfrom tiles import jit\n", "toy-tiles"),
        ("a.py", "# import tiles\n", "torch"),
    ],
)
def test_a_file_names_its_language(name, source, language):
    assert language_of(Path(name), source) == language


def test_an_ending_of_no_language_is_refused_with_those_there_are():
    with pytest.raises(UsageError, match=r"a\.rs: its ending names no language") as caught:
        language_of(Path("a.rs"), "")
    assert caught.value.hint == "known: .cpp, .cc, .cxx, .c++, .cu, .py, .toy, .toyc"


@pytest.mark.parametrize("ask", [notation, lambda name: make_candidate("", name)])
def test_an_unknown_language_is_refused_with_those_there_are(ask):
    with pytest.raises(UsageError, match="unknown language 'fortran'") as caught:
        ask("fortran")
    assert caught.value.hint == "known: cpp, cuda, torch, toy-c, toy-py, toy-tiles"


def test_a_name_that_could_be_a_path_is_no_language():
    with pytest.raises(ValueError, match="language"):
        samples.candidate().model_validate(
            samples.candidate().model_dump() | {"language": "../toy"}
        )


def test_a_plugged_in_language_is_read_named_settled_and_shipped():
    who = make_candidate(TOY, "toy-c", {"ROWS": 2})
    assert who.strategy == "toy rows"
    name, text = best_file(who)
    assert name == "best.toy"
    assert parse(text, "toy-c").tune == {"ROWS": (2, 1)}
    assert normalised("toy-c", TOY, {"ROWS": 2}) == normalised(
        "toy-c", TOY.replace("twice() { return", "twice()\n{\n return"), {"ROWS": 2}
    )
    summary = samples.summary(found=samples.evaluation(who))
    ((name, text),) = file.export(replace(summary, best=who)).items()
    assert name == "twice.toy"
    assert text.startswith("-- twice: Every element doubled\n")
    assert parse(text, "toy-c").tune == {}
    assert "#define ROWS 2\n" in text


def test_a_python_candidate_is_shipped_with_its_numbers_bound():
    who = make_candidate(
        "# /// kernelwright\n# tune.ROWS = [1, 2]\n# ///\n" + PYTHON, "toy-py", {"ROWS": 2}
    )
    summary = samples.summary(found=samples.evaluation(who))
    ((name, text),) = file.export(replace(summary, best=who)).items()
    assert name.endswith(".py")
    assert "ROWS=2" in text


def test_its_experts_are_files_with_its_ending(tmp_path):
    folder = tmp_path / "demo" / "toy-c"
    folder.mkdir(parents=True)
    (folder / "a.toy").write_text(TOY)
    (folder / "b.cpp").write_text(TOY)
    task = samples.task(op="demo")
    given = Context(task, ("cpp", "toy-c"), 0, {"N": 8}, lambda look: None)
    assert [one.origin for one in defaults(given, tmp_path)] == ["experts/demo/toy-c/a.toy"]


def test_its_prototype_has_its_types_its_last_argument_and_its_device():
    workloads = samples.task().model_dump()["workloads"]
    task = samples.task(
        types={"T": "float32"},
        inputs=[{"name": "x", "dtype": "T", "shape": ["N"]}],
        outputs=[{"name": "y", "dtype": "T", "shape": ["N"]}],
        workloads=[*workloads, workloads[1] | {
            "name": "g", "device": "gpu", "types": {"T": "bfloat16"},
        }],
    )  # fmt: skip
    assert contract.prototype(task, "toy-c", workspace=True).splitlines()[-1] == (
        'extern "C" int twice(const toy_bfloat16* x, toy_bfloat16* y, int64_t N, '
        "void* workspace, toyStream_t stream);"
    )
    assert contract.prototype(task, "toy-c").startswith("-- x: [N] bfloat16")
    assert contract.prototype(task, "toy-tiles").splitlines()[-1] == "def twice(x, y, N): ..."
    assert "# x: [N] bfloat16" in contract.prototype(task, "toy-tiles")
    assert "# x: [N] float32" in contract.prototype(task, "toy-py")


def test_every_installed_language_is_known_by_its_own_name():
    for name in plugins.names("languages"):
        assert plugins.load("languages", name).name == name
