"""``compare`` on a fake executor: who meets, what is decided, and who is to blame."""

import json

import pytest

import kernelwright
from kernelwright.cli.main import main
from kernelwright.records.outcome import Decision
from kernelwright.verbs.compare_answer import overall
from tests import samples
from tests.fakes import FakeExecutor

FIELDS = {"task", "rung", "a", "b", "overall", "comparisons", "circumstances"}
OPTIMIZE = "optimize twice --start good.cpp --proposer tune --evaluations 20"


def said(capsys, line):
    code = main([*line.split(), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def files(folder):
    for word in ("quick", "slow", "broken", "late"):
        (folder / f"{word}.cpp").write_text(f"{samples.SOURCE}// {word.upper()}\n")
    return folder


@pytest.fixture
def run(folder, capsys):
    code, found = said(capsys, f"{OPTIMIZE} --threads 1")
    assert code == 0
    return found


def test_two_files(files, capsys):
    code, found = said(capsys, "compare good.cpp quick.cpp --task twice")
    assert code == 0
    assert set(found) == FIELDS
    assert (found["task"], found["rung"]) == ("twice", "confirm")
    assert set(found["a"]) == {
        "origin", "candidate", "strategy", "tunables", "outcome", "reason", "tried", "own_margin",
    }  # fmt: skip
    assert (found["a"]["origin"], found["b"]["origin"]) == ("good.cpp", "quick.cpp")
    assert (found["a"]["own_margin"], found["b"]["own_margin"]) == (0.02, 0.01)
    assert found["overall"]["ratio"] == pytest.approx(1.5)
    assert found["overall"]["decision"] == "faster"
    (row,) = found["comparisons"]
    assert row == {
        "workload": "cpu-4096", "a_us": 75.0, "b_us": 50.0, "ratio": 1.5, "low": row["low"],
        "high": row["high"], "margin": 0.01, "decision": "faster", "pairs": 100,
    }  # fmt: skip


def test_exchanged_they_say_the_inverse_and_slower_is_exit_3(files, capsys):
    code, found = said(capsys, "compare quick.cpp good.cpp --task twice")
    assert code == 3
    assert found["overall"]["ratio"] == pytest.approx(1 / 1.5)
    assert found["overall"]["decision"] == "slower"


def test_the_same_is_no_failure(files, capsys):
    code, found = said(capsys, "compare good.cpp good.cpp --task twice")
    assert (code, found["overall"]["decision"]) == (0, "same")
    main(["compare", "good.cpp", "good.cpp", "--task", "twice"])
    assert "decision   A and B are the same within 1.0%: 1.00x" in capsys.readouterr().out


def test_both_are_judged_before_they_meet(files, capsys):
    said(capsys, "compare good.cpp quick.cpp --task twice --rung full --threads 1 --seed 3")
    (executor,) = FakeExecutor.made
    a, b = (executor.jobs[at].candidate for at in (0, 1))
    assert [(job.plan.rung.word, job.candidate.id, bool(job.plan.looks), job.rival)
            for job in executor.jobs] == [
        ("draft", a.id, False, None),
        ("draft", b.id, False, None),
        ("full", a.id, False, None),
        ("full", b.id, True, a),
    ]  # fmt: skip
    assert "edges" in executor.jobs[2].plan.stages
    assert "hidden" not in executor.jobs[2].plan.stages
    assert executor.jobs[3].plan.placements == 1
    assert {(job.threads, job.seed) for job in executor.jobs} == {(1, 3)}
    assert executor.closed


def test_as_closely_as_a_confirm(files, capsys):
    said(capsys, "compare good.cpp quick.cpp --task twice")
    first, second = FakeExecutor.made[0].jobs[2:]
    assert "hidden" in first.plan.stages
    assert second.plan.placements == 8
    assert not second.plan.all_baselines


def test_text(files, capsys):
    assert main(["compare", "good.cpp", "quick.cpp", "--task", "twice"]) == 0
    out = capsys.readouterr().out
    assert "A          plain loop THREADS=1 (" in out
    assert ") from quick.cpp\n" in out
    assert "cpu-4096  75 µs  50 µs  1.50x [1.47, 1.53]    1.0%  FASTER" in out
    assert "decision   B is faster than A: 1.50x [1.47, 1.53]" in out
    assert "itself     apart from itself in this session: A 2.0%, B 1.0%" in out


@pytest.fixture
def threads_matter(monkeypatch):
    """A fake on which a candidate that says THREADS = 2 is faster than one that says 1."""
    real = FakeExecutor.judge

    def judge(self, job):
        found = real(self, job)
        if job.rival is not None or not job.plan.looks or not found.passed:
            return found
        ratio = 1.0 + job.candidate.tunables["THREADS"]
        return found.model_copy(update={"comparisons": (samples.comparison("numpy", ratio),)})

    monkeypatch.setattr(FakeExecutor, "judge", judge)


def test_each_can_be_tuned_first(files, capsys, threads_matter):
    code, found = said(capsys, "compare good.cpp quick.cpp --task twice --threads 2 --tune")
    assert code == 0
    for side in (found["a"], found["b"]):
        assert (side["tunables"], side["tried"]) == ({"THREADS": 2}, 2)
        assert side["origin"].endswith(".cpp")
    (executor,) = FakeExecutor.made
    tuning = [job for job in executor.jobs if job.plan.rung.word == "screen"]
    assert len(tuning) == 4
    assert executor.jobs[-1].candidate.tunables == {"THREADS": 2}
    assert executor.jobs[-1].rival.tunables == {"THREADS": 2}
    main(["compare", "good.cpp", "quick.cpp", "--task", "twice", "--threads", "2", "--tune"])
    assert "from good.cpp, the best of 2 looked at" in capsys.readouterr().out


def test_tuning_ends_with_its_looks(files, capsys, threads_matter):
    line = "compare good.cpp quick.cpp --task twice --threads 2 --tune --evaluations 1"
    _, found = said(capsys, line)
    assert (found["a"]["tunables"], found["a"]["tried"]) == ({"THREADS": 1}, 1)
    code, found = said(capsys, "compare good.cpp quick.cpp --task twice --evaluations 3")
    assert (code, found["hint"]) == (2, "add --tune, or leave it out")


def test_a_wrong_one_is_found_out_although_it_was_tuned(files, capsys, threads_matter):
    code, found = said(capsys, "compare good.cpp bad.cpp --task twice --tune")
    assert (code, found["overall"]) == (3, None)
    assert found["b"]["outcome"] == "wrong_values"


def test_the_winner_of_a_run_against_a_file(run, files, capsys):
    code, found = said(capsys, "compare latest quick.cpp")
    assert (code, found["overall"]["decision"]) == (0, "faster")
    assert found["a"]["origin"] == f"run {run['run']}"
    assert found["a"]["candidate"]["id"] == run["best"]["candidate"]
    assert FakeExecutor.made[-1].settings["threads"] == 1
    said(capsys, "compare latest quick.cpp --threads 2")
    assert FakeExecutor.made[-1].settings["threads"] == 2


def test_two_runs_of_one_task(run, capsys):
    code, other = said(capsys, f"{OPTIMIZE} --threads 1")
    code, found = said(capsys, f"compare {run['run']} {other['run']}")
    assert code == 0
    assert found["a"]["origin"] == f"run {run['run']}"
    assert found["b"]["origin"] == f"run {other['run']}"


@pytest.mark.parametrize(
    ("words", "a", "b", "blamed"),
    [
        ("bad.cpp quick.cpp", "wrong_values", "passed", "A was rejected"),
        ("good.cpp bad.cpp", "passed", "wrong_values", "B was rejected"),
        ("broken.cpp good.cpp", "build_error", "passed", "A was rejected"),
        ("good.cpp broken.cpp", "passed", "build_error", "B was rejected"),
        ("late.cpp good.cpp", "wrong_values", "passed", "A was rejected"),
    ],
)
def test_who_fails_is_named(files, capsys, words, a, b, blamed):
    code, found = said(capsys, f"compare {words} --task twice")
    assert code == 3
    assert (found["a"]["outcome"], found["b"]["outcome"]) == (a, b)
    assert (found["overall"], found["comparisons"]) == (None, [])
    assert main(["compare", *words.split(), "--task", "twice"]) == 3
    out = capsys.readouterr().out
    assert out.count("was rejected") == 1
    assert f"{blamed}\n  outcome    " in out
    assert "x [" not in out


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        ("good.cpp quick.cpp", "what do these files compute?", "say it: --task TASK"),
        ("good.cpp none.cpp --task twice", "no such file: none.cpp", ""),
        ("good.cpp quick.cpp --task sofmax", "unknown task 'sofmax'", "did you mean 'softmax'"),
        ("good.cpp quick.cpp --task twice --device tpu", "unknown device 'tpu'", "known: auto"),
        ("good.cpp ./nothing --task twice", "no such file: nothing", ""),
        ("latest quick.cpp", "no runs yet", "kernelwright optimize softmax makes one"),
        (
            "rmsnorm good.cpp",
            "rmsnorm is a task, not a candidate",
            "name two candidates: kernelwright compare good.cpp OTHER --task rmsnorm",
        ),
    ],
)
def test_what_is_wrong_is_said(files, capsys, words, error, hint):
    code, found = said(capsys, f"compare {words}")
    assert code == 2
    assert found["error"].startswith(error)
    assert found["hint"].startswith(hint)
    assert FakeExecutor.made == []


def test_candidates_of_different_tasks(run, folder, capsys):
    other = folder / "thrice"
    other.mkdir()
    text = (folder / "twice" / "task.toml").read_text()
    (other / "task.toml").write_text(text.replace('name = "twice"', 'name = "thrice"'))
    (other / "reference.py").write_text("def twice(xp, x):\n    return 3 * x\n")
    code, found = said(capsys, "compare latest good.cpp --task thrice")
    assert code == 2
    assert found["error"] == f"run {run['run']} is of task twice, not of thrice"
    assert found["hint"] == "leave out --task: a run knows its own"
    code, thrice = said(capsys, OPTIMIZE.replace("twice", "thrice"))
    code, found = said(capsys, f"compare {run['run']} {thrice['run']}")
    assert (code, found["hint"]) == (2, "only candidates of one task can be compared")


def test_a_task_that_is_no_longer_what_it_was(run, folder, capsys):
    (folder / "twice" / "reference.py").write_text("def twice(xp, x):\n    return x + x\n")
    code, found = said(capsys, "compare latest good.cpp --task twice")
    assert code == 2
    assert "is of another version of task twice" in found["error"]
    assert said(capsys, "compare latest good.cpp")[0] == 0


def test_runs_with_other_threads(run, capsys):
    code, other = said(capsys, f"{OPTIMIZE} --threads 2")
    words = f"compare {run['run']} {other['run']}"
    code, found = said(capsys, words)
    assert (code, found["error"]) == (2, "the runs began with 1 and 2 threads")
    assert said(capsys, f"{words} --threads 2")[0] == 0


def test_a_run_without_a_winner(folder, capsys):
    said(capsys, "optimize twice --start bad.cpp --proposer tune --evaluations 9")
    code, found = said(capsys, "compare latest good.cpp")
    assert code == 2
    assert "has no confirmed winner" in found["error"]
    assert found["hint"]


def test_an_executor_that_cannot_do_it_is_found_out(files, capsys, monkeypatch):
    monkeypatch.setattr(
        "tests.fakes.duel", lambda job: samples.evaluation(job.candidate, job.plan.rung)
    )
    code, found = said(capsys, "compare good.cpp quick.cpp --task twice")
    assert (code, found["error"]) == (1, "executor local cannot time two candidates")


def test_from_python(files):
    found = kernelwright.compare("good.cpp", "quick.cpp", task="twice")
    assert found.overall.decision == "faster"
    found = kernelwright.compare("good.cpp", samples.SOURCE + "// SLOW\n", task="twice")
    assert (found.overall.decision, found.b.origin) == ("slower", "the source that was given")


def row(workload, low, high, decision, margin=0.01):
    found = samples.comparison(workload=workload, decision=decision)
    change = {"ratio": (low * high) ** 0.5, "low": low, "high": high, "margin": margin}
    return found.model_copy(update=change)


@pytest.mark.parametrize(
    ("rows", "decision"),
    [
        ([(1.2, 1.3, Decision.FASTER)], "faster"),
        ([(1.2, 1.3, Decision.UNDECIDED)], "undecided"),
        ([(1.2, 1.3, Decision.FASTER), (1.2, 1.3, Decision.FASTER)], "faster"),
        ([(1.2, 1.3, Decision.FASTER), (0.99, 1.01, Decision.SAME)], "faster"),
        ([(1.2, 1.3, Decision.FASTER), (0.7, 0.8, Decision.SLOWER)], "undecided"),
        ([(1.1, 1.3, Decision.FASTER), (0.5, 0.6, Decision.SLOWER)], "slower"),
        ([(0.995, 1.005, Decision.SAME), (0.995, 1.005, Decision.SAME)], "same"),
        ([(0.99, 1.2, Decision.UNDECIDED), (0.99, 1.2, Decision.UNDECIDED)], "undecided"),
    ],
)
def test_one_answer_for_several_workloads(rows, decision):
    found = [row(f"w{at}", *fields) for at, fields in enumerate(rows)]
    answer = overall(found)
    assert answer.decision == decision
    assert answer.low <= answer.ratio <= answer.high
    inverse = {Decision.FASTER: Decision.SLOWER, Decision.SLOWER: Decision.FASTER}
    exchanged = overall(
        [row(f"w{at}", 1 / high, 1 / low, inverse.get(said, said))
         for at, (low, high, said) in enumerate(rows)]
    )  # fmt: skip
    assert exchanged.ratio == pytest.approx(1 / answer.ratio)
    assert exchanged.decision == inverse.get(Decision(decision), decision)
    assert overall([]) is None
