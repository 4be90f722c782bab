"""``audit`` on a fake executor: then and now side by side, and a verdict."""

import json

import pytest

import kernelwright
from kernelwright.cli.main import main
from kernelwright.records.outcome import Decision
from kernelwright.verbs.agreement import agreements, differences
from tests import samples
from tests.fakes import FakeExecutor

FIELDS = {
    "run", "task", "candidate", "verdict", "differences", "genuine", "outcome", "comparisons",
    "build", "replay", "circumstances", "changed", "remembered",
}  # fmt: skip


def said(capsys, line):
    code = main([*line.split(), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def run(folder, capsys):
    code, found = said(capsys, "optimize twice --start good.cpp --proposer tune --evaluations 20")
    assert code == 0
    return found


@pytest.fixture
def now(monkeypatch):
    """Lets a test change what is found when the fake judges again."""

    def change(edit):
        real = FakeExecutor.judge
        monkeypatch.setattr(FakeExecutor, "judge", lambda self, job: edit(real(self, job)))

    return change


def test_what_holds(run, capsys):
    code, found = said(capsys, "audit latest")
    assert code == 0
    assert set(found) == FIELDS
    assert (found["verdict"], found["differences"]) == ("holds", [])
    assert found["genuine"]
    assert found["candidate"]["id"] == run["best"]["candidate"]
    assert found["outcome"] == {"stored": "passed", "fresh": "passed"}
    assert {one["agreement"] for one in found["comparisons"]} == {"overlap"}
    assert found["replay"]["matches"]
    assert found["circumstances"]["stored"]["sandbox"] == found["circumstances"]["fresh"]["sandbox"]
    assert found["remembered"]


def test_it_is_one_confirm_of_the_stored_winner(run, capsys):
    said(capsys, "audit latest")
    (job,) = FakeExecutor.made[-1].jobs
    assert job.plan.all_baselines
    assert "hidden" in job.plan.stages
    assert job.candidate.id == run["best"]["candidate"]
    assert FakeExecutor.made[-1].closed


def test_the_run_says_the_same_as_before(run, capsys):
    before = said(capsys, "runs show latest")
    said(capsys, "audit latest")
    after = said(capsys, "runs show latest")
    assert len(after[1]["best"].pop("audits")) == 1
    assert before[1]["best"].pop("audits") == []
    assert after[1]["best"] == before[1]["best"]
    assert after[1]["counts"] == before[1]["counts"]
    code, replayed = said(capsys, "runs replay latest")
    assert (code, replayed["matches"]) == (0, True)


def test_the_run_remembers(run, capsys, folder):
    said(capsys, "audit latest")
    lines = (folder / "runs" / run["run"] / "events.jsonl").read_text().splitlines()
    (event,) = [one for one in map(json.loads, lines) if one["kind"] == "audited"]
    assert event["verdict"] == "holds"
    assert event["at"]
    assert event["comparisons"][0]["fresh"]["ratio"] == 2.0


def test_text(run, capsys):
    assert main(["audit", "latest"]) == 0
    out = capsys.readouterr().out
    assert "source     what its id says" in out
    assert "decisions  all " in out
    assert "outcome    passed then, passed now" in out
    assert out.count("2.00x [1.96, 2.04] FASTER  2.00x [1.96, 2.04] FASTER  intervals overlap") == 1
    assert out.endswith("verdict    HOLDS\n")


def test_one_that_fails_now(run, capsys, now):
    now(lambda look: samples.rejected(samples.candidate(), look.rung))
    code, found = said(capsys, "audit latest")
    assert (code, found["verdict"]) == (3, "differs")
    (said_of_it,) = found["differences"]
    assert said_of_it.startswith("it passed then; now it ends as wrong_values: output y differs")
    assert {one["agreement"] for one in found["comparisons"]} == {"missing"}
    code, stored = said(capsys, "runs show latest")
    assert stored["status"] == "improved"


def test_one_that_is_no_faster_now(run, capsys, now):
    slow = samples.comparison("numpy", 0.9, decision=Decision.SLOWER)
    now(lambda look: look.model_copy(update={"comparisons": (slow, look.comparisons[1])}))
    assert main(["audit", "latest"]) == 3
    out = capsys.readouterr().out
    assert "2.00x [1.96, 2.04] FASTER  0.90x [0.88, 0.92] SLOWER  DIFFERS" in out
    assert "verdict    DIFFERS" in out


def test_another_machine_and_another_compiler_are_named(run, capsys, now):
    def elsewhere(look):
        build = look.build.model_copy(update={"compiler": "g++ 14", "binary": "b"})
        environment = {**look.environment, "device": "cpu: Test 9001", "load": "7"}
        return look.model_copy(update={"build": build, "environment": environment})

    now(elsewhere)
    code, found = said(capsys, "audit latest")
    assert code == 0
    assert found["changed"] == {"device": {"stored": "cpu: Test 9000", "fresh": "cpu: Test 9001"}}
    assert not found["build"]["same_binary"]
    main(["audit", "latest"])
    out = capsys.readouterr().out
    assert "changed    device: cpu: Test 9000 then, cpu: Test 9001 now" in out
    assert "build      another binary, by g++ (Debian 12.2.0) 12.2.0 -O3 -fopenmp" in out
    assert "g++ 14 -O3 -fopenmp" in out


def test_a_source_that_is_not_what_its_id_says_is_not_built(run, capsys, monkeypatch):
    monkeypatch.setattr("kernelwright.verbs.audit.exact_id", lambda *_: "0" * 16)
    made = len(FakeExecutor.made)
    code, found = said(capsys, "audit latest")
    assert (code, found["verdict"], found["genuine"]) == (3, "differs", False)
    assert found["differences"] == [
        "the stored source, or its values, are not what the candidate's id says"
    ]
    assert len(FakeExecutor.made) == made
    assert main(["audit", "latest"]) == 3
    assert "source     NOT what its id says" in capsys.readouterr().out


def test_decisions_that_do_not_come_out_again_are_told_and_are_another_matter(
    run, capsys, monkeypatch
):
    monkeypatch.setattr("kernelwright.search.board._change", lambda *_: ("other", "axis"))
    code, found = said(capsys, "audit latest")
    assert (code, found["verdict"], found["replay"]["matches"]) == (0, "holds", False)
    main(["audit", "latest"])
    assert "decisions  come out differently in this version: posts 1" in capsys.readouterr().out


def test_a_run_without_a_number(folder, capsys):
    said(capsys, "optimize twice --start good.cpp --proposer tune --evaluations 3")
    code, found = said(capsys, "audit latest")
    assert code == 2
    assert found["error"].endswith("has no confirmed number to audit (budget)")
    assert found["hint"].startswith("kernelwright confirm ")


def test_a_run_that_is_being_worked_on(run, capsys, folder):
    from kernelwright.store.store import Store
    from kernelwright.store.writer import Writer

    store = Store.open(str(folder / "runs.db"))
    Writer(store).take(run["run"])
    made = len(FakeExecutor.made)
    code, found = said(capsys, "audit latest")
    store.close()
    assert code == 2
    assert found["error"].endswith("is being worked on")
    assert len(FakeExecutor.made) == made


def test_a_store_that_cannot_be_written_is_audited_all_the_same(run, capsys, folder, monkeypatch):
    from kernelwright.errors import StoreError
    from kernelwright.verbs import audit

    def refuse(*_):
        raise StoreError("it cannot be written")

    monkeypatch.setattr(audit, "remember_audit", refuse)
    assert main(["audit", "latest"]) == 0
    out, err = capsys.readouterr()
    assert "verdict    HOLDS" in out
    assert "hint: the store cannot be written now" in err


def comparison(baseline="numpy", low=1.9, high=2.1, decision=Decision.FASTER):
    found = samples.comparison(baseline, (low * high) ** 0.5, decision=decision)
    return found.model_copy(update={"low": low, "high": high})


@pytest.mark.parametrize(
    ("now", "agreement", "holds"),
    [
        (comparison(), "overlap", True),
        (comparison(low=2.05, high=2.4), "overlap", True),
        (comparison(low=1.5, high=1.7), "decision", True),
        (comparison(low=1.95, high=2.4, decision=Decision.UNDECIDED), "overlap", True),
        (comparison(low=0.99, high=1.2, decision=Decision.UNDECIDED), "differs", False),
        (comparison(low=0.5, high=0.6, decision=Decision.SLOWER), "differs", False),
    ],
)
def test_when_a_number_holds(now, agreement, holds):
    who = samples.candidate()
    then, again = (samples.evaluation(who, comparisons=(one,)) for one in (comparison(), now))
    (row,) = rows = agreements(then.comparisons, again.comparisons)
    assert row.agreement == agreement
    assert (list(differences(then, again, rows)) == []) is holds


def test_a_baseline_that_is_gone_matters_if_it_was_the_strongest():
    who = samples.candidate()
    numpy, loop = comparison("numpy"), comparison("loop", 3.0, 3.2)
    then = samples.evaluation(who, comparisons=(numpy, loop))
    without_loop = samples.evaluation(who, comparisons=(numpy, comparison("eager")))
    rows = agreements(then.comparisons, without_loop.comparisons)
    assert [(one.baseline, one.agreement) for one in rows] == [
        ("numpy", "overlap"), ("loop", "missing"), ("eager", "new"),
    ]  # fmt: skip
    assert list(differences(then, without_loop, rows)) == []
    without_numpy = samples.evaluation(who, comparisons=(loop,)).model_copy(
        update={"evidence": {"missing_baselines": {"numpy": "it is not installed"}}}
    )
    rows = agreements(then.comparisons, without_numpy.comparisons)
    assert list(differences(then, without_numpy, rows)) == [
        "numpy, the strongest baseline then, cannot be had here: it is not installed"
    ]


def test_from_python(run):
    assert kernelwright.audit_run("latest").verdict == "holds"
    assert kernelwright.open_run("latest").audit().verdict == "holds"


def test_the_run_shows_its_audits(run, capsys, now):
    said(capsys, "audit latest")
    now(lambda look: samples.rejected(samples.candidate(), look.rung))
    said(capsys, "audit latest")
    _, found = said(capsys, "runs show latest")
    assert [one["verdict"] for one in found["best"]["audits"]] == ["holds", "differs"]
    assert found["best"]["audits"][0]["differences"] == []
    assert found["best"]["audits"][1]["differences"][0].startswith("it passed then; now it ends")
    main(["runs", "show", "latest"])
    out = capsys.readouterr().out
    assert out.count("\naudited    20") == 2
    assert ": HOLDS\n" in out
    assert ": DIFFERS; it passed then;" in out
