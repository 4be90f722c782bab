"""A run on one screen."""

import dataclasses
import re

import pytest

from kernelwright.records.conditions import Conditions
from kernelwright.records.evaluation import Evaluation, Sandbox
from kernelwright.records.measurement import Roofline
from kernelwright.records.outcome import Decision, Outcome
from kernelwright.records.run import Budget, Run
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.task import Tolerance
from kernelwright.report import onward
from kernelwright.report import summary as report
from kernelwright.report.standing import STATUS, status
from kernelwright.search.rejected import Rejection
from kernelwright.search.summary import Counts
from tests import samples


def test_every_baseline_with_interval_and_decision():
    text = report.run_text(samples.summary())
    assert re.search(r"numpy +cpu-4096 +50 µs +100 µs +2\.00x \[1\.96, 2\.04\] +1% +FASTER", text)
    assert re.search(r"loop +cpu-4096 +50 µs +175 µs +3\.50x \[3\.43, 3\.57\] +1% +FASTER", text)


def test_no_ratio_without_rival_and_interval():
    text = report.run_text(samples.summary())
    for line in text.splitlines():
        for found in re.finditer(r"\d\.\d+x", line):
            assert re.match(r" \[\d", line[found.end() :]), line
            assert "numpy" in line or "loop" in line


def test_evidence_is_shown():
    text = report.run_text(samples.summary())
    assert "80% of what bandwidth allows (floor 40 µs)" in text
    assert "static, smoke" in text
    assert "isolation  2 of 3 layers\nlacking    pid namespace" in text
    assert "draws random numbers" in text
    assert "plain loop THREADS=2" in text
    assert "cpu: Test 9000, 2 threads" in text


def test_the_policy_stands_beside_the_result():
    text = report.run_text(samples.summary())
    assert "accuracy   error at most 4 times that of honest sums, or 2 ulp; bits may differ" in text
    exact = samples.task(precision=("tf32", "bfloat16"), determinism="bitwise")
    seen = Sensitivity(
        workloads=(), tolerance=Tolerance(k=2), tightened_from=Tolerance(k=100)
    )  # fmt: skip
    session = samples.session().model_copy(update={"sensitivity": seen})
    text = " ".join(report.run_text(samples.summary(task=exact, session=session)).split())
    assert "at most 2 times that of honest sums, or 2 ulp (tightened from 100)" in text
    assert "may compute in tf32, bfloat16" in text
    assert "the same bits in every run" in text


def test_share_of_the_device_by_rung():
    text = report.run_text(samples.summary())
    assert re.search(r"smoke +8 +1\.0 +25%", text)
    assert re.search(r"full +2 +3\.0 +75%", text)
    assert re.search(r"draft +9 +0\.0 +0%", text)


def test_without_a_winner_outcomes_are_shown():
    text = report.run_text(samples.summary("no_improvement", won=False))
    assert "wrong_values" in text
    assert not re.search(r"\dx", text)
    assert "no better candidate in 24 looks" in text


@pytest.mark.parametrize(
    ("status", "won", "start"),
    [
        ("improved", True, "kernelwright ship r-20260101-abcd --as file"),
        ("interrupted", False, "kernelwright runs resume r-20260101-abcd"),
    ],
)
def test_what_to_paste(status, won, start):
    assert onward.paste(samples.summary(status, won=won))[0].startswith(start)


def test_a_run_of_a_language_that_is_gone_can_still_be_shown():
    found = samples.summary()
    gone = found.best.model_copy(update={"language": "gone"})
    found = dataclasses.replace(found, best=gone)
    assert "(gone, " in report.run_text(found)
    assert onward.paste(found) == []


def test_a_faster_that_is_no_improvement_says_what_it_lacks():
    who = samples.candidate()
    quiet = samples.comparison(workload="a", ratio=1.3)
    loud = samples.comparison(workload="b", ratio=1.3).model_copy(update={"margin": 0.4})
    for rows, said in (((quiet, quiet), False), ((quiet, loud), True)):
        confirmed = samples.evaluation(who, comparisons=rows)
        found = onward.doubts(dataclasses.replace(samples.summary(), confirmed=confirmed))
        assert any("1.27x" in line and "1.40x" in line for line in found) == said, found


@pytest.mark.parametrize("status", ["no_improvement", "running"])
@pytest.mark.parametrize("won", [True, False])
def test_nothing_to_paste_after_a_no_or_while_it_runs(status, won):
    assert onward.paste(samples.summary(status, won=won)) == []


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (Budget(minutes=1.5), "--minutes 3"),
        (Budget(minutes=0.2), "--minutes 3"),
        (Budget(evaluations=20), "--evaluations 20"),
        (Budget(evaluations=2), "--evaluations 4"),
        (Budget(minutes=9, evaluations=9), "--minutes 3 --evaluations 9"),
    ],
)
def test_a_run_without_a_confirmed_number_says_how_to_get_one(budget, words):
    summary = samples.summary("budget", won=False, budget=budget, needed_s=121.0)
    assert onward.paste(summary) == [f"kernelwright runs resume r-20260101-abcd {words}"]


def test_what_was_only_built_is_not_called_passed():
    counts = Counts(drafted=5, built=4, by_outcome={"passed": 4, "crashed": 1}, only_built=3)
    text = report.run_text(samples.summary("budget", won=False, counts=counts))
    assert re.search(r"^built, not run +3$", text, re.MULTILINE)
    assert re.search(r"^passed +1$", text, re.MULTILINE)
    counts = Counts(by_outcome={"passed": 4}, only_built=4)
    text = report.run_text(samples.summary("budget", won=False, counts=counts))
    assert "passed" not in text


def test_a_long_strategy_is_wrapped():
    long = samples.candidate().model_copy(update={"strategy": "rows: " + "advance together " * 9})
    text = report.run_text(samples.summary(best=long))
    assert max(map(len, text.partition("\n\n")[0].splitlines())) <= 80
    assert re.search(r"^best       rows: advance together", text, re.MULTILINE)


def test_lines_of_evidence_fit_a_terminal():
    layers = (
        "oom_first", "network", "pids", "watcher", "mounts", "user", "capabilities",
        "no_new_privileges", "landlock", "system_calls", "limits",
    )  # fmt: skip
    sandbox = Sandbox(active=layers, unavailable=("hidden_memory: not in this kernel",))
    found = samples.evaluation(samples.candidate()).model_copy(update={"sandbox": sandbox})
    lines = report.evidence(found).splitlines()
    assert max(map(len, lines)) <= 80
    said = " ".join("\n".join(lines).split())
    assert "isolation 11 of 12 layers lacking hidden_memory: not in this kernel" in said
    whole = found.model_copy(update={"sandbox": Sandbox(active=layers)})
    assert "isolation  all 11 layers (names with --json)" in report.evidence(whole)
    assert "isolation" not in report.evidence(samples.rejected(samples.candidate(), Rung.DRAFT))


def test_the_confirmed_candidate_of_a_no_is_not_called_the_best():
    text = report.run_text(samples.summary("no_improvement"))
    assert re.search(r"^closest +plain loop", text, re.MULTILINE)
    assert not re.search(r"^best", text, re.MULTILINE)


def test_sections_without_content_leave_no_gap():
    text = report.run_text(samples.summary("budget", won=False))
    assert "\n\n\n" not in text


def test_every_status_has_words():
    assert set(STATUS) == set(Run.model_fields["status"].annotation.__args__)


def test_a_slower_rival_says_so():
    lost = samples.comparison("fused", 0.5, decision=Decision.SLOWER)
    assert re.search(r"0\.50x \[0\.49, 0\.51\] +1% +SLOWER", report.comparisons([lost]))
    assert report.comparisons([]) == ""


@pytest.mark.parametrize(
    ("evidence", "line"),
    [
        ({"distinct_results_in_40_repeats": 1}, ""),
        ({"distinct_results_in_40_repeats": 3}, "bits differ between runs (3 results in 40)"),
        ({"distinct_results_in_timed_repeats": 2}, "bits differ between runs at the timed size"),
        ({"libraries": ["libopenblas", "libz"]}, "uses libopenblas, libz"),
        (
            {"contents_recur": {"file": 9}},
            "timed calls repeat contents that the task's code drew (9",
        ),
        ({"reference_undefined": {"nan": 1, "large": 2}}, "reference is undefined: nan, large"),
        ({"same_binary_as_first_build": True}, ""),
        ({"same_binary_as_first_build": False}, "noted      a fresh build gave another binary"),
        (
            {
                "nearest_to_limit": {
                    "share": 0.313,
                    "output": "y",
                    "workload": "w",
                    "note": "",
                    "worst_tile": [4096, 8192],
                }
            },
            "error at most 0.31 of what is allowed (output y, w, worst in elements 4096 to 8191)",
        ),
        ({"missing_baselines": {"eager": "torch is not installed"}}, "without    eager: torch is"),
    ],
)
def test_what_a_reader_must_know(evidence, line):
    who = samples.candidate()
    found = samples.evaluation(who).model_copy(update={"evidence": evidence})
    text = " ".join(report.evidence(found).split())
    assert " ".join(line.split()) in text
    shown = ("noted", "error", "without")
    assert any(re.search(rf"\b{word}\b", text) for word in shown) == bool(line)
    assert report.labels(samples.rejected(who).model_copy(update={"evidence": evidence})) == []


def test_what_the_judge_showed_reads_one_way_only():
    noisy, held = samples.controls()
    assert report.controls([held]) == "all held (no-op)"
    both = report.controls([held, noisy])
    assert both == "held: no-op; not: planted slower (too noisy to tell 10%: margin 7.3%)"
    assert report.controls([noisy]).startswith("not: planted slower (too noisy")


@pytest.mark.parametrize(("baseline_us", "said"), [(100.0, False), (103.0, False), (120.0, True)])
def test_a_ratio_that_is_not_the_quotient_of_the_two_times_says_why(baseline_us, said):
    one = samples.comparison().model_copy(update={"baseline_us": baseline_us})
    assert ("median of ratios of pairs" in report.comparisons([one])) == said


def test_a_roof_that_is_exceeded_is_explained():
    for fraction, explained in ((0.9, False), (1.47, True)):
        roof = Roofline(floor_us=228.0, fraction=fraction, bound="bandwidth")
        confirm = samples.summary().confirmed
        said = report.evidence(confirm.model_copy(update={"roofline": roof}))
        assert ("measured too low" in " ".join(said.split())) is explained


def test_undecided_is_not_called_no_improvement_without_a_word():
    run = samples.summary("no_improvement", won=False).run
    found = dataclasses.replace(samples.summary(), run=run)
    undecided = [one.model_copy(update={"decision": Decision.UNDECIDED})
                 for one in found.confirmed.comparisons]  # fmt: skip
    confirm = found.confirmed.model_copy(update={"comparisons": tuple(undecided)})
    assert "(undecided)" in status(dataclasses.replace(found, confirmed=confirm))
    slower = [one.model_copy(update={"decision": Decision.SLOWER}) for one in undecided]
    confirm = found.confirmed.model_copy(update={"comparisons": tuple(slower)})
    assert "(undecided)" not in status(dataclasses.replace(found, confirmed=confirm))


@pytest.mark.parametrize("known", [True, False])
def test_a_floor_of_bytes_alone_says_so(known):
    roof = Roofline(floor_us=3.0, fraction=0.01, bound="bandwidth", operations_known=known)
    found = samples.evaluation(samples.candidate()).model_copy(update={"roofline": roof})
    assert ("operations unknown" in report.evidence(found)) is not known


def test_the_line_of_controls_says_which_margin_decides():
    found = samples.evaluation(samples.candidate())
    said = " ".join(report.evidence(found).split())
    assert "a row is decided by its own margin" in said
    untimed = found.model_copy(update={"comparisons": ()})
    assert "own margin" not in " ".join(report.evidence(untimed).split())


@pytest.mark.parametrize(
    ("others", "why"), [(3.1, "other processes used 3.1 cores while"), (0.0, "across the margin")]
)
def test_an_undecided_confirm_says_what_it_lacked_not_why_the_search_was_over(others, why):
    run = samples.summary("no_improvement", won=False).run
    rows = [samples.comparison(decision=Decision.UNDECIDED)]
    quiet = Conditions(seconds=1.0, load_before=0.0, load_after=0.0, others=others)
    confirm = samples.evaluation(samples.candidate(), comparisons=rows)
    confirm = confirm.model_copy(update={"conditions": quiet})
    found = dataclasses.replace(samples.summary(), run=run, confirmed=confirm)
    assert status(found).startswith("no improvement shown (undecided): ")
    assert why in status(found)
    assert found.reason not in status(found)


def test_the_next_command_writes_over_nothing_that_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    summary = samples.summary()
    name = onward.paste(summary)[0].rpartition(" ")[2]
    (tmp_path / name).touch()
    other = onward.paste(summary)[0].rpartition(" ")[2]
    assert other == name.replace(".cpp", ".best.cpp")
    (tmp_path / other).touch()
    assert onward.paste(summary)[0].rpartition(" ")[2] not in (name, other)


def test_a_file_of_the_users_that_failed_is_named_beside_a_winner():
    summary = samples.summary()
    look = Evaluation(
        candidate="c", rung=Rung.DRAFT, outcome=Outcome.BUILD_ERROR, reason="line 1: no"
    )
    mine = Rejection(summary.best, look, "mine.cpp")
    text = report.run_text(dataclasses.replace(summary, refused=(mine,)))
    assert "rejected   mine.cpp: build_error: line 1: no, at draft" in text


def test_a_run_out_of_budget_says_that_others_were_at_work():
    summary = samples.summary("budget", won=False)
    busy = Conditions(seconds=5.0, load_before=3.0, load_after=3.0, others=1.2)
    session = summary.session.model_copy(update={"conditions": busy})
    (hint,) = onward.doubts(dataclasses.replace(summary, session=session))
    assert "1.2 cores while the baselines were timed" in hint
    assert onward.doubts(summary) == []
