"""The Python API: what it takes beside what a command line can give, and what it prints."""

from __future__ import annotations

import numpy as np
import pytest

import kernelwright
from kernelwright.verbs.optimize import Plan


def double(x):
    """Twice of it."""
    return 2 * x


@pytest.fixture
def installed(folder, monkeypatch):
    """The oracle answers without a process: what it would say of :func:`double`."""

    def inspect(request):
        shaped = {"shape": [3], "dtype": "float64"}
        return {
            "kind": "numpy",
            "inputs": [{"name": "x", **shaped}],
            "outputs": [{"name": "out", **shaped}],
            "scalars": [],
        }

    monkeypatch.setattr("kernelwright.verbs.setup.inspector", inspect)


@pytest.mark.parametrize("tune", [{"THREADS": 2}, ("THREADS=2",), "THREADS=2"])
def test_tunables_are_given_as_a_run_holds_them(folder, tune):
    found = kernelwright.evaluate("twice", "good.cpp", tune=tune)
    assert found._candidate.tunables == {"THREADS": 2}
    with pytest.raises(kernelwright.UsageError, match="THREADS = '3' is not listed"):
        kernelwright.evaluate("twice", "good.cpp", tune={"THREADS": 3})


def test_words_and_paths_stand_for_themselves(folder):
    store = folder / "other.db"
    kernelwright.optimize(
        "twice", start=folder / "good.cpp", proposer="tune", evaluations=3, store=store
    )
    assert store.exists()
    with pytest.raises(kernelwright.UsageError, match="effort: must be 'quick', 'normal' or"):
        kernelwright.optimize("twice", effort="slow")


def test_a_callable_is_a_task_of_every_verb_that_needs_one(installed, folder):
    shown = kernelwright.show_task(double, inputs=[np.ones(3)])
    assert shown.name == "double"
    assert shown.summary == "Twice of it"
    with pytest.raises(kernelwright.TaskError, match="'double' has no example inputs"):
        kernelwright.show_task(double)
    with pytest.raises(kernelwright.TaskError, match="'double' has no example inputs"):
        kernelwright.check_task(double)
    with pytest.raises(kernelwright.TaskError, match="'double' has no example inputs"):
        kernelwright.compare("good.cpp", "bad.cpp", task=double)


def test_a_dry_run_is_no_run(folder):
    with pytest.raises(kernelwright.UsageError, match="dry_run makes no run") as caught:
        kernelwright.optimize("twice", dry_run=True)
    assert "kernelwright.call('optimize'" in caught.value.hint
    assert isinstance(kernelwright.call("optimize", task="twice", dry_run=True), Plan)


def test_what_is_printed_is_a_few_lines(folder):
    run = kernelwright.optimize("twice", start="good.cpp", proposer="tune", evaluations=20)
    found = kernelwright.evaluate("twice", "good.cpp")
    bad = kernelwright.evaluate("twice", "bad.cpp")
    shown = kernelwright.show_task("softmax")
    printed = [str(run.best), str(found), str(bad), str(shown), str(run.answer), repr(run)]
    assert max(map(len, printed)) < 400
    assert not any("\n" in one for one in printed[:-1])
    for word in (run.best.id, "cpp", "plain loop", "THREADS", "good.cpp"):
        assert word in repr(run.best)
    assert run.best.source not in f"{run.best} {run.best!r} {[run.best]}"
    assert "over_numpy='2.00x [1.96, 2.04]'" in str(found)
    assert "wrong_values" in str(bad)
    assert str(kernelwright.list_runs()) == "Answer(rows=1)"
    assert run.best == type(run.best).model_validate(run.best.model_dump())
