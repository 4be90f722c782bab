"""One evaluation in the form that others rely on."""

from collections.abc import Iterator
from typing import Any, Self

from kernelwright.candidates.notation import notation
from kernelwright.languages.ptxas import readable
from kernelwright.records.candidate import Candidate
from kernelwright.records.conditions import Conditions
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Session
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import Policy
from kernelwright.records.session_control import SessionControl
from kernelwright.report import summary as report
from kernelwright.report import text
from kernelwright.report.isolation import unbuilt
from kernelwright.report.rivals import absent, to_beat
from kernelwright.search.rungs import plans_for
from kernelwright.verbs import base
from kernelwright.verbs.rows import (
    BuildRow,
    CandidateRow,
    CheckRow,
    ComparisonRow,
    DiagnosisRow,
    EnvironmentRow,
    MeasurementRow,
    RooflineRow,
    SandboxRow,
)

MOST_RATIOS = 4
"""Shown where an answer is printed."""
ONLY_BUILT = "a draft is built and no more: nothing was run, and no result was checked"
"""What a draft that passed says, so that nobody takes it for a right answer."""
NO_SESSION = "none: what is not built needs none, so no baseline was timed and no control was run"
"""What a draft that failed says of what is absent from its answer."""


class EvaluationAnswer(base.Answer):
    """The verdict on one candidate at one rung."""

    outcome: str
    reason: str
    evidence: dict[str, Any]
    checks: tuple[CheckRow, ...]
    rung: str
    measurement: MeasurementRow | None
    """Of the main workload."""
    comparisons: tuple[ComparisonRow, ...]
    roofline: RooflineRow | None
    diagnosis: DiagnosisRow | None
    build: BuildRow | None
    sandbox: SandboxRow
    candidate: CandidateRow
    environment: EnvironmentRow
    policy: Policy
    conditions: Conditions | None
    """What else the machine did; None for looks whose numbers are not reported."""
    controls: tuple[SessionControl, ...]
    """What the judge showed of itself in this session; empty at draft and smoke."""
    not_looked_at: tuple[str, ...]
    """Checks of dearer rungs that a pass at this one says nothing about."""

    _evaluation: Evaluation
    _candidate: Candidate
    _session: Session | None

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        """Also who was judged, and every ratio with its interval."""
        yield from super().__repr_args__()
        yield "candidate", self.candidate.id
        for one in self.comparisons[:MOST_RATIOS]:
            yield f"over_{one.baseline}", text.ratio(one.ratio, one.low, one.high)

    @classmethod
    def of(
        cls,
        candidate: Candidate,
        found: Evaluation,
        policy: Policy,
        main: str = "",
        session: Session | None = None,
    ) -> Self:
        """The answer that an evaluation gives.

        Args:
            candidate: the one that was judged.
            found: the verdict.
            policy: by which results were judged.
            main: name of the workload whose measurement is shown; by default the first measured.
            session: in which it was judged; None where it had none or opened its own.
        """
        chosen = [one for one in found.measurements if one.workload == main]
        measured = (*chosen, *found.measurements)
        answer = cls(
            outcome=found.outcome.value,
            reason=ONLY_BUILT if found.passed and found.rung is Rung.DRAFT else found.reason,
            evidence=base.plain(found.evidence),
            checks=tuple(
                CheckRow(name=one.name, outcome=one.outcome.value, seconds=one.seconds)
                for one in found.checks
            ),
            rung=found.rung.word,
            measurement=MeasurementRow.of(measured[0]) if measured else None,
            comparisons=tuple(map(ComparisonRow.of, found.comparisons)),
            roofline=RooflineRow.of(found.roofline),
            diagnosis=DiagnosisRow.of(found.diagnosis),
            build=BuildRow.of(found.build),
            sandbox=SandboxRow.of(found.sandbox),
            candidate=CandidateRow(
                id=candidate.id,
                language=candidate.language,
                fingerprint=candidate.fingerprint,
            ),
            environment=EnvironmentRow.of(found.environment),
            policy=policy,
            conditions=found.conditions,
            controls=found.controls,
            not_looked_at=_left_out(found),
        )
        answer._evaluation = found
        answer._candidate = candidate
        answer._session = session
        return answer

    @property
    def evaluation(self) -> Evaluation:
        """The whole record."""
        return self._evaluation

    def exit_code(self) -> int:
        """0 passed, 3 rejected."""
        return 0 if self._evaluation.passed else 3

    def text(self) -> str:
        """Outcome, checks, comparisons, evidence."""
        found = self._evaluation
        who = f"({self.candidate.language}, {self.candidate.id})"
        outcome = f"{self.outcome} at {self.rung}"
        head = [f"outcome    {'built, not run' if self.reason == ONLY_BUILT else outcome}"]
        head += [text.labelled("reason", self.reason)] if self.reason else []
        head.append(text.labelled("candidate", f"{report.strategy(self._candidate)} {who}"))
        if self.measurement:
            times = self.measurement.time_us
            head.append(
                f"time       {text.duration(times.median)} on {self.measurement.workload} "
                f"(p20 {text.duration(times.p20)}, p80 {text.duration(times.p80)}, n {times.n})"
            )
        if unbuilt(found):
            head.append(text.labelled("session", NO_SESSION))
        head += self._rivals()
        if self.not_looked_at:
            missing = ", ".join(self.not_looked_at)
            head.append(text.labelled("unlooked", f"{missing}: see --rung full and confirm"))
        if not unbuilt(found):
            head.append(text.labelled("accuracy", report.policy(self.policy)))
        checks = [(one.name, one.outcome, f"{one.seconds:.2f}") for one in self.checks]
        parts = [
            "\n".join(head),
            self._log(),
            self._kernels(),
            text.table(("check", "outcome", "s"), checks, right="  r") if checks else "",
            report.comparisons(found.comparisons),
            report.evidence(found, checks=False),
        ]
        return "\n\n".join(filter(None, parts))

    def notes(self) -> list[str]:
        """What to do about a rejection, where the judge knows."""
        hint = self._evaluation.evidence.get("hint")
        if self.reason == ONLY_BUILT and notation(self.candidate.language).device == "cpu":
            hint = "--rung smoke makes the first call and compares its results"
        return [f"hint: {hint}"] if hint else []

    def _rivals(self) -> list[str]:
        """What there is to beat, and what could not be had."""
        if self._session is None:
            return []
        without = [text.labelled("without", one) for one in absent(self._session)]
        return [text.labelled("to beat", to_beat(self._session)), *without]

    def _kernels(self) -> str:
        """What each kernel takes of a GPU; nothing for other devices."""
        rows = [
            (
                readable(one.name),
                str(one.registers),
                f"{one.spill_store_bytes} + {one.spill_load_bytes}",
                text.bytes_(one.shared_bytes),
                text.bytes_(one.stack_bytes),
            )
            for one in (self.build.kernels if self.build else ())
        ]
        head = ("kernel", "registers", "spilled bytes", "shared memory", "stack")
        return text.table(head, rows, right=" rrrr") if rows else ""

    def _log(self) -> str:
        build = self._evaluation.build
        log = build.log.strip() if build and not self._evaluation.passed else ""
        return text.indent("\n".join(log.splitlines()[:20]))


def _left_out(found: Evaluation) -> tuple[str, ...]:
    """Stages that a confirm has and this look had not; none of a rejection."""
    if not found.passed or found.rung is Rung.DRAFT:
        return ()
    made = {one.name for one in found.checks}
    return tuple(one for one in plans_for("normal")[Rung.CONFIRM].stages if one not in made)
