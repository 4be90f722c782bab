"""``audit FILE --claim``: what somebody says of a kernel beside what was measured."""

import json
import math

import pytest

import kernelwright
from kernelwright.cli.main import main
from kernelwright.errors import UsageError
from kernelwright.verbs.claim import claimed_speedup, verdict
from kernelwright.verbs.compare_answer import OverallRow
from tests.fakes import FakeExecutor

FIELDS = {"task", "claim", "verdict", "reason", "baseline", "measured", "look"}


def said(capsys, line):
    code = main([*line.split(), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("claim", "outcome", "code", "reason"),
    [
        ("2x", "confirmed", 0, "it lies within what was measured"),
        ("1.5", "confirmed", 0, "the kernel is faster than that"),
        ("2.3×", "refuted", 3, "even the upper end of what was measured, 2.04x, is less"),
    ],
)
def test_what_was_measured_decides(folder, capsys, claim, outcome, code, reason):
    done, found = said(capsys, f"audit good.cpp --task twice --claim {claim}")
    assert set(found) == FIELDS
    assert (done, found["verdict"], found["reason"]) == (code, outcome, reason)
    assert found["measured"]["ratio"] == pytest.approx(2.0)
    assert found["baseline"] == "numpy"
    assert found["look"]["rung"] == "confirm"
    assert FakeExecutor.made[-1].jobs[-1].plan.all_baselines
    assert FakeExecutor.made[-1].closed


def test_a_wrong_kernel_refutes_every_claim(folder, capsys):
    code, found = said(capsys, "audit bad.cpp --task twice --claim 1.01x")
    assert (code, found["verdict"], found["measured"]) == (3, "refuted", None)
    assert found["reason"] == "the kernel is rejected (wrong_values)"
    assert found["look"]["outcome"] == "wrong_values"


def test_text(folder, capsys):
    assert main(["audit", "good.cpp", "--task", "twice", "--claim", "2.3x"]) == 3
    out = capsys.readouterr().out
    assert "outcome    passed at confirm" in out
    assert "claimed    2.30x\n" in out
    assert "measured   2.00x [1.96, 2.04] against numpy\n" in out
    assert "verdict    REFUTED: even the upper end of what was measured, 2.04x, is less" in out


@pytest.mark.parametrize(
    ("line", "error", "hint"),
    [
        ("good.cpp", "good.cpp is a file: what is claimed of it", "kernelwright audit good.cpp"),
        ("good.cpp --claim 2x", "good.cpp is a file: what is claimed", "kernelwright audit good"),
        ("good.cpp --task twice --claim fast", "'fast' is no speedup", "write it like --claim"),
        ("latest --claim 2x", "'latest' names a run, which makes its own claim", "leave out"),
        ("none.cpp --task twice --claim 2x", "no such file: none.cpp", ""),
    ],
)
def test_what_is_wrong_is_said(folder, capsys, line, error, hint):
    code, found = said(capsys, f"audit {line}")
    assert code == 2
    assert found["error"].startswith(error)
    assert found["hint"].startswith(hint)
    assert FakeExecutor.made == []


def test_from_python(folder):
    found = kernelwright.audit_run("good.cpp", task="twice", claim="2x")
    assert found.verdict == "confirmed"


@pytest.mark.parametrize("words", ["0", "-2x", "nan", "inf", "1e999", "", "x", "2.3y"])
def test_what_is_no_speedup(words):
    with pytest.raises(UsageError, match="is no speedup"):
        claimed_speedup(words)


def measured(low, high, margin=0.01):
    return OverallRow(
        ratio=math.sqrt(low * high), low=low, high=high, margin=margin, decision="faster"
    )


@pytest.mark.parametrize(
    ("claim", "found", "wanted"),
    [
        (2.3, measured(2.2, 2.4), "confirmed"),
        (2.3, measured(2.5, 9.0), "confirmed"),
        (2.3, measured(0.5, 10.0), "undecided"),
        (2.3, measured(1.5, 2.4), "undecided"),
        (2.3, measured(2.0, 2.29), "confirmed"),
        (2.3, measured(2.0, 2.29, margin=0.001), "refuted"),
        (2.3, measured(2.0, 2.2), "refuted"),
        (2.3, measured(0.9, 1.1), "refuted"),
        (1.05, measured(1.04, 1.06), "confirmed"),
        (1.05, measured(0.98, 1.12), "undecided"),
        (2.3, measured(1.57, 2.81, margin=0.9), "undecided"),  # a loud machine confirms no more
        (2.0, measured(1.0, 1.1, margin=0.9), "undecided"),
        (2.3, None, "refuted"),
    ],
)
def test_when_a_claim_stands(claim, found, wanted):
    assert verdict(claim, found) == wanted


def test_a_claim_is_judged_with_as_many_threads_as_it_was_made_with(folder, capsys):
    said(capsys, "audit good.cpp --task twice --claim 2x --threads 1")
    assert FakeExecutor.made[-1].settings["threads"] == 1
    assert {job.threads for job in FakeExecutor.made[-1].jobs} == {1}
    code, found = said(capsys, "audit latest --threads 1")
    assert code == 2
    assert "with the threads that it began with" in found["error"]
