"""A number from a busy machine says so, plainly; a quiet one says nothing."""

import dataclasses

import pytest

from kernelwright.devices.disturbance import disturbance
from kernelwright.records.conditions import Conditions
from kernelwright.report import summary as report
from kernelwright.verbs.run_answer import RunAnswer
from tests import samples


def conditions(**changes):
    fields = {"seconds": 9.0, "load_before": 0.1, "load_after": 2.0, "others": 0.1, "steal": 0.01}
    return Conditions(**fields | changes)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (None, ""),
        (conditions(), ""),
        (conditions(others=0.25, steal=0.05), ""),
        (conditions(others=None, steal=None), ""),
        (conditions(others_before=2.0), ""),
        (conditions(others=0.3), "other processes used 0.3 cores"),
        (conditions(steal=0.07), "the host of this machine took 7% of the time"),
        (
            conditions(others=1.44, steal=0.5),
            "other processes used 1.4 cores and the host of this machine took 50% of the time",
        ),
    ],
)
def test_when_a_machine_counts_as_busy(found, words):
    assert disturbance(found) == words


def busy_summary():
    who = samples.candidate()
    look = samples.evaluation(who).model_copy(update={"conditions": conditions(others=1.4)})
    return samples.summary(found=look)


def test_the_summary_of_a_run_warns():
    text = report.run_text(busy_summary())
    assert "busy       other processes used 1.4 cores while this was measured" in text
    assert "busy" not in report.run_text(samples.summary())


def test_what_to_do_comes_before_what_to_paste():
    answer = RunAnswer.of(busy_summary())
    hint, paste = answer.notes()
    assert hint == (
        "hint: other processes used 1.4 cores while the best was confirmed: "
        "kernelwright confirm r-20260101-abcd measures it again"
    )
    assert paste.startswith("next: kernelwright ship")
    assert len(RunAnswer.of(samples.summary()).notes()) == 1


def test_circumstances_are_in_the_answer():
    summary = busy_summary()
    seen = {"conditions": conditions(steal=0.2), "controls": samples.controls()[1:]}
    opened = summary.session.model_copy(update=seen)
    answer = RunAnswer.of(dataclasses.replace(summary, session=opened))
    assert answer.circumstances.confirm.machine.others == 1.4
    assert answer.circumstances.confirm.sandbox.active == ("rlimits", "landlock")
    assert answer.circumstances.confirm.environment.versions == {"python": "3.11.2"}
    assert answer.circumstances.opening.machine.steal == 0.2
    assert answer.circumstances.opening.sandbox is None
    assert [one.name for one in answer.circumstances.opening.controls] == ["no-op"]
    assert answer.circumstances.confirm.controls == samples.controls()
    unconfirmed = RunAnswer.of(samples.summary("budget", won=False, session=None))
    assert unconfirmed.circumstances.confirm is None
    assert unconfirmed.circumstances.opening is None


def test_earlier_confirms_are_shown_and_do_not_count():
    who = samples.candidate()
    before = (
        samples.evaluation(who, comparisons=(samples.comparison(ratio=2.5),)),
        samples.rejected(who),
    )
    text = report.run_text(samples.summary(earlier=before))
    assert "earlier    confirmed 2.50x [2.45, 2.55] against numpy on cpu-4096: FASTER" in text
    assert "earlier    wrong_values output y differs from the reference" in text
    assert text.count("2.00x") == 1
    answer = RunAnswer.of(samples.summary(earlier=before))
    assert [one.outcome for one in answer.best.earlier] == ["passed", "wrong_values"]
    assert answer.best.earlier[0].comparisons[0].ratio == 2.5
