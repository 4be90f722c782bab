"""The main job from end to end: real C++, real judging, a real store."""

import json
import signal
import time

import pytest

from kernelwright.verbs.run_answer import EXIT

FIELDS = {
    "run",
    "task",
    "device",
    "status",
    "best",
    "leading",
    "counts",
    "rejected",
    "spent",
    "files",
    "policy",
    "circumstances",
    "next",
}


@pytest.fixture(scope="module")
def improved(folder):
    """A run that wins: compiled loops against numpy."""
    code, found = folder.json(
        "optimize", "poly", "--start", "good.cpp", "--proposer", "tune", "--effort", "quick",
        "--evaluations", 12,
    )  # fmt: skip
    assert code == 0, found
    return found


def test_a_win_comes_with_its_evidence(improved):
    assert set(improved) == FIELDS
    assert improved["status"] in ("improved", "nothing_left_to_win")
    best = improved["best"]
    assert best["strategy"] == "one pass: no temporaries"
    assert best["comparisons"]
    for one in best["comparisons"]:
        assert one["low"] <= one["ratio"] <= one["high"]
    assert any(one["decision"] == "faster" for one in best["comparisons"])
    assert 0 < best["roofline"]["fraction"] < 1.5
    assert improved["counts"]["by_rung"]["confirm"] >= 1
    assert improved["spent"]["device_s"] > 0
    assert improved["spent"]["tokens"] == 0


def test_the_summary_never_shows_a_bare_ratio(folder, improved):
    code, out, _ = folder.run("runs", "show", improved["run"])
    assert code == 0
    ratios = [line for line in out.splitlines() if "x [" in line]
    assert len(ratios) == len(improved["best"]["comparisons"])
    for line in ratios:
        assert line.split()[-1] in ("FASTER", "SLOWER", "SAME", "UNDECIDED")
        assert any(line.startswith(one["baseline"]) for one in improved["best"]["comparisons"])


def test_its_decisions_replay(folder, improved):
    code, found = folder.json("runs", "replay", improved["run"])
    assert (code, found["first_difference"]) == (0, "")


def test_what_is_shipped_passes_again(folder, improved):
    code, shipped = folder.json("ship", improved["run"], "--to", "out/poly.cpp")
    assert code == 0
    code, verdict = folder.json("evaluate", "poly", shipped["files"][0], "--rung", "smoke")
    assert (code, verdict["outcome"]) == (0, "passed")
    assert "tune." not in (folder.path / "out/poly.cpp").read_text()


def test_export_has_every_evaluation(folder, improved):
    code, out, _ = folder.run("runs", "export", improved["run"])
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    made = [row for row in rows if not row["copied_from"]]
    assert len(made) == sum(improved["counts"]["by_rung"].values())


def test_a_built_in_task_within_its_budget(folder):
    began = time.monotonic()
    code, found = folder.json("optimize", "softmax", "--effort", "quick", "--minutes", 0.3)
    assert set(found) == FIELDS
    assert code == EXIT.get(found["status"], 0)
    assert found["status"] != "running"
    assert (found["best"] is not None) == (found["status"] == "improved")
    assert found["spent"]["wall_s"] < 0.3 * 60 + 30
    assert time.monotonic() - began < 120


def test_a_kernel_that_cannot_win_is_a_no(folder):
    code, found = folder.json(
        "optimize", "poly", "--start", "slow.cpp", "--proposer", "tune", "--evaluations", 6
    )
    assert code == 3, found
    assert found["status"] == "no_improvement"
    assert found["best"] is None


def test_ctrl_c_leaves_a_run_that_can_be_resumed(folder):
    process = folder.start(
        "optimize", "poly", "--start", "good.cpp", "--proposer", "tune", "--effort", "quick"
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        code, out, _ = folder.run("runs", "list", "--json")
        rows = [json.loads(line) for line in out.splitlines()]
        if any(row["status"] == "running" for row in rows):
            break
        time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    (line,) = [line for line in err.splitlines() if line.startswith("next: kernelwright ")]
    code, found = folder.json(*line.removeprefix("next: kernelwright ").split())
    assert code in (0, 3, 4), found
    assert found["status"] not in ("running", "interrupted")
