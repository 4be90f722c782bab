"""``evaluate`` on a fake executor: its fields are those that others rely on."""

import json

import pytest

from kernelwright.cli.main import main
from kernelwright.devices import gpu
from kernelwright.errors import ControlError
from kernelwright.records.evaluation import KernelFacts
from kernelwright.records.sensitivity import policy_of
from kernelwright.verbs.evaluation_answer import EvaluationAnswer
from tests import samples
from tests.fakes import FakeExecutor

FIELDS = {
    "outcome", "reason", "evidence", "checks", "rung", "measurement", "comparisons", "roofline",
    "diagnosis", "build", "sandbox", "candidate", "environment", "policy", "conditions", "controls",
    "not_looked_at",
}  # fmt: skip


def judged(capsys, *words):
    code = main(["evaluate", "twice", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_pass(folder, capsys):
    code, said = judged(capsys, "good.cpp")
    assert code == 0
    assert set(said) == FIELDS
    assert said["outcome"] == "passed"
    assert said["rung"] == "screen"
    assert {"repeats", "edges", "hidden"} <= set(said["not_looked_at"])
    assert said["measurement"]["workload"] == "cpu-4096"
    assert set(said["measurement"]["time_us"]) == {"median", "p20", "p80", "min", "n", "discarded"}
    assert said["comparisons"][0] == {
        "baseline": "numpy",
        "workload": "cpu-4096",
        "ratio": 2.0,
        "low": 1.96,
        "high": 2.04,
        "decision": "faster",
        "margin": 0.01,
        "pairs": 100,
        "candidate_us": 50.0,
        "baseline_us": 100.0,
    }
    assert set(said["roofline"]) == {"floor_us", "fraction", "bound"}
    assert set(said["build"]) == {
        "seconds", "registers", "spill_bytes", "shared_bytes", "kernels",
    }  # fmt: skip
    assert set(said["sandbox"]) == {"active", "unavailable"}
    assert set(said["candidate"]) == {"id", "language", "fingerprint"}
    assert said["environment"]["device"] == "cpu: Test 9000"
    assert said["environment"]["versions"] == {"python": "3.11.2"}
    assert said["policy"] == {
        "precision": [],
        "determinism": "within_tolerance",
        "tolerance": {"k": 4.0, "ulps": 2.0},
        "tightened_from": None,
    }


def test_a_rejection_is_exit_3(folder, capsys):
    code, said = judged(capsys, "bad.cpp")
    assert code == 3
    assert said["outcome"] == "wrong_values"
    assert said["reason"].startswith("output y differs")
    assert said["measurement"] is None
    assert said["comparisons"] == []


def test_the_draft_comes_first_and_the_executor_is_closed(folder, capsys):
    judged(capsys, "good.cpp", "--rung", "full", "--threads", "1", "--seed", "7")
    (executor,) = FakeExecutor.made
    assert [job.plan.rung.word for job in executor.jobs] == ["draft", "full"]
    assert executor.closed
    assert executor.settings["threads"] == 1
    assert {job.seed for job in executor.jobs} == {7}


def test_draft_alone(folder, capsys):
    code, said = judged(capsys, "good.cpp", "--rung", "draft")
    assert (code, said["rung"]) == (0, "draft")
    assert "nothing was run" in said["reason"]
    assert len(FakeExecutor.made[0].jobs) == 1


def test_a_draft_does_not_read_as_a_right_answer(folder, capsys):
    assert main(["evaluate", "twice", "good.cpp", "--rung", "draft"]) == 0
    out, err = capsys.readouterr()
    assert "outcome    built, not run\nreason     a draft is built and no more" in out
    assert "passed at" not in out
    assert "hint: --rung smoke" in err


def test_all_baselines(folder, capsys):
    judged(capsys, "good.cpp", "--baseline", "all")
    assert FakeExecutor.made[0].jobs[-1].plan.all_baselines


def test_first_valid_values_or_those_named(folder, capsys):
    judged(capsys, "good.cpp")
    judged(capsys, "good.cpp", "--tune", "THREADS=2")
    first, second = (executor.jobs[0].candidate.tunables for executor in FakeExecutor.made)
    assert (first, second) == ({"THREADS": 1}, {"THREADS": 2})


def test_text_for_people(folder, capsys):
    assert main(["evaluate", "twice", "good.cpp"]) == 0
    out = capsys.readouterr().out
    assert "outcome    passed at screen" in out
    assert "50 µs on cpu-4096" in out
    assert "2.00x [1.96, 2.04]" in out
    assert "accuracy   error at most 4 times that of honest sums, or 2 ulp; bits may" in out
    assert main(["evaluate", "twice", "bad.cpp"]) == 3
    out = capsys.readouterr().out
    assert "reason     output y differs from the reference" in out
    assert "x [" not in out


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (["none.cpp"], "no such file: none.cpp", ""),
        (["notes.txt"], "notes.txt: its ending names no language", "known: .cpp"),
        (["good.cpp", "--tune", "THREAD=1"], "the candidate has no tunable 'THREAD'", "did you"),
        (["good.cpp", "--tune", "THREADS=9"], "THREADS = '9' is not listed", "known: 1, 2"),
        (["good.cpp", "--device", "cuda:0"], "kernels cannot run on cuda:0", "--device cpu"),
        (["good.cpp", "--device", "tpu"], "unknown device 'tpu'", "known: auto, cpu"),
        (["header.cpp"], "header.cpp: line 1: the header is not closed", ""),
        (["latin.cpp"], "latin.cpp is not UTF-8 text", ""),
        (["other"], "no such file: other", ""),
    ],
)
def test_what_is_wrong_is_said(folder, capsys, words, error, hint):
    (folder / "header.cpp").write_text("// /// kernelwright\nint x;\n")
    (folder / "latin.cpp").write_bytes(b"// \xe9\n")
    (folder / "notes.txt").write_text("")
    code, said = judged(capsys, *words)
    assert code == 2
    assert said["error"].startswith(error)
    assert said["hint"].startswith(hint)
    assert FakeExecutor.made == []


@pytest.mark.parametrize("task", ["twice", "softmax", "model.py", "mine.py:f", "none"])
@pytest.mark.parametrize("file", ["good.cpp", "none.cu"])
def test_arguments_the_wrong_way_round_are_recognised(folder, capsys, task, file):
    assert main(["evaluate", file, task]) == 2
    assert capsys.readouterr().err == (
        "error: the task comes first, then the candidate's file\n"
        f"hint: kernelwright evaluate {task} {file}\n"
    )


@pytest.mark.parametrize("words", [["evaluate", "good.cpp", "bad.cpp"], ["optimize", "good.cpp"]])
def test_a_kernel_is_no_task(folder, capsys, words):
    assert main(words) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: good.cpp is a kernel, not a task\nhint: ")
    assert "--start" in err


def test_unknown_task_suggests(folder, capsys):
    assert main(["evaluate", "sofmax", "good.cpp"]) == 2
    assert capsys.readouterr().err == (
        "error: unknown task 'sofmax'\nhint: did you mean 'softmax'?\n"
    )


def test_a_file_that_is_too_long_is_refused_at_once(folder, capsys):
    with (folder / "long.cpp").open("wb") as file:
        file.write(b"// ")
        file.truncate(80 << 20)
    for line in ("evaluate twice long.cpp", "optimize twice --start long.cpp"):
        assert main([*line.split(), "--json"]) == 2
        found = json.loads(capsys.readouterr().out)
        assert found["error"] == "long.cpp cannot be read: it has more than 1 MiB"
    assert not any(made.jobs for made in FakeExecutor.made)


@pytest.mark.parametrize(("rung", "tested"), [("smoke", False), ("screen", True), ("full", True)])
def test_the_judge_is_tested_where_something_is_to_be_decided(
    folder, capsys, monkeypatch, rung, tested
):
    told, opened = [], FakeExecutor.open

    def noting(self, task, known=None, *, controls=True):
        told.append(controls)
        return opened(self, task, known)

    monkeypatch.setattr(FakeExecutor, "open", noting)
    assert main(["evaluate", "twice", "good.cpp", "--rung", rung]) == 0
    assert told == [tested]


def test_a_session_whose_control_fails_is_refused_with_what_to_do(folder, capsys, monkeypatch):
    def refused(self, task, known=None, *, controls=True):
        raise ControlError("no verdict can be given: 'planted slower' failed", hint="try later")

    monkeypatch.setattr(FakeExecutor, "open", refused)
    assert main(["evaluate", "twice", "good.cpp"]) == 2
    assert "error: no verdict can be given: 'planted slower' failed" in (
        err := capsys.readouterr().err
    )
    assert "hint: try later" in err
    assert FakeExecutor.made[-1].closed


def test_what_the_judge_showed_of_itself_is_said(folder, capsys):
    _, said = judged(capsys, "good.cpp")
    assert [one["name"] for one in said["controls"]] == ["planted slower", "no-op"]
    main(["evaluate", "twice", "good.cpp"])
    out = capsys.readouterr().out
    line = "controls held: no-op; not: planted slower (too noisy to tell 10%: margin 7.3%)"
    assert line in " ".join(out.split())


def test_what_does_not_build_is_answered_without_a_session(folder, capsys, monkeypatch):
    def opened(self, task, known=None, *, controls=True):
        raise AssertionError("a session was opened")

    monkeypatch.setattr(FakeExecutor, "open", opened)
    (folder / "broken.cpp").write_text(samples.SOURCE + "// BROKEN\n")
    code, said = judged(capsys, "broken.cpp")
    assert (code, said["outcome"], said["rung"]) == (3, "build_error", "draft")
    assert said["controls"] == []
    assert said["conditions"] is None
    assert main(["evaluate", "twice", "broken.cpp"]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "session none: what is not built needs none, so no baseline was timed" in out
    assert main(["evaluate", "twice", "good.cpp", "--rung", "draft"]) == 0
    assert "session" not in capsys.readouterr().out


def test_what_there_is_to_beat_and_what_is_missing_is_said(folder, capsys):
    assert main(["evaluate", "twice", "good.cpp"]) == 0
    out = capsys.readouterr().out
    assert "to beat    numpy, loop; the strongest is numpy\n" in out
    assert "without    eager: torch is not installed\n" in out


def test_what_does_not_build_says_nothing_of_isolation_and_accuracy(folder, capsys):
    (folder / "broken.cpp").write_text(samples.SOURCE + "// BROKEN\n")
    assert main(["evaluate", "twice", "broken.cpp"]) == 3
    out = capsys.readouterr().out
    assert "outcome    build_error at draft" in out
    for word in ("isolation", "accuracy", "to beat"):
        assert word not in out


CUDA = """// /// kernelwright
// tune.THREADS = [128, 64]
// where = ["THREADS % warp == 0", "THREADS <= shared_memory"]
// ///
extern "C" int twice(const float* x, float* y, int64_t N, cudaStream_t stream) { return 0; }
"""


@pytest.mark.parametrize(
    ("seen", "words"),
    [("", "and none is here"), ("sm_90a", "which this version does not judge on")],
)
def test_what_runs_on_a_gpu_is_built_and_not_run(folder, capsys, monkeypatch, seen, words):
    monkeypatch.setattr(gpu, "architecture", lambda: seen)
    (folder / "k.cu").write_text(CUDA)
    code, said = judged(capsys, "k.cu", "--rung", "draft")
    assert (code, said["candidate"]["language"]) == (0, "cuda")
    for command in (
        ["evaluate", "twice", "k.cu"],
        ["evaluate", "twice", "k.cu", "--rung", "confirm"],
        ["compare", "k.cu", "good.cpp", "--task", "twice"],
        ["optimize", "twice", "--start", "k.cu"],
        ["optimize", "twice", "--language", "cuda", "--dry-run"],
    ):
        assert main(command) == 2
        shown = capsys.readouterr().err
        assert f"kernels in cuda run on a GPU, {words}" in shown
        assert "--rung draft" in shown
        assert "Traceback" not in shown


def test_what_each_kernel_takes_is_shown(capsys):
    kernels = (
        KernelFacts(name="_Z4rowsILi2EEvPf", registers=64, spill_store_bytes=8, shared_bytes=2048),
    )
    found = samples.evaluation(samples.candidate())
    build = found.build.model_copy(update={"kernels": kernels})
    policy = policy_of(samples.task(), None)
    answer = EvaluationAnswer.of(
        samples.candidate(), found.model_copy(update={"build": build}), policy
    )
    *_, head, row = [line.split() for line in answer._kernels().splitlines()]
    assert head[:2] == ["kernel", "registers"]
    assert row == ["rows<2>", "64", "8", "+", "0", "2", "KiB", "0", "B"]
    assert "rows<2>" in answer.text()
