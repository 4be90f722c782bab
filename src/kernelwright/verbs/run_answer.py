"""The answer of every verb that ends with a run: ``optimize``, ``runs show``, ``runs resume``."""

from typing import Self

from pydantic import BaseModel

from kernelwright.records.candidate import Value
from kernelwright.records.outcome import Outcome
from kernelwright.records.run import Status
from kernelwright.records.sensitivity import Policy
from kernelwright.report import onward
from kernelwright.report import summary as report
from kernelwright.report.rejected import look_closer
from kernelwright.search.rejected import Rejection
from kernelwright.search.summary import RunSummary
from kernelwright.verbs import base
from kernelwright.verbs.rows import CircumstancesRow, ComparisonRow, RooflineRow

EXIT = {"no_improvement": 3, "budget": 4, "interrupted": 130, "running": 0}


class Confirm(BaseModel):
    """What one confirm of the winner said."""

    outcome: str
    comparisons: tuple[ComparisonRow, ...]


class AuditRow(BaseModel):
    """What one audit of the winner said."""

    at: str
    verdict: str
    differences: tuple[str, ...]


class Best(BaseModel):
    """The confirmed winner."""

    candidate: str
    language: str
    strategy: str
    tunables: dict[str, Value]
    source_path: str
    comparisons: tuple[ComparisonRow, ...]
    roofline: RooflineRow | None
    earlier: tuple[Confirm, ...]
    """Confirms of it before the one that counts, oldest first."""
    audits: tuple[AuditRow, ...]
    """What repeating everything said of it, oldest first."""


class Leading(BaseModel):
    """Who leads while nobody is confirmed; nothing is claimed of it, so there is no number."""

    candidate: str
    language: str
    strategy: str
    tunables: dict[str, Value]
    source_path: str
    rung: str
    """The dearest look that it passed."""


class Counts(BaseModel):
    """How many candidates went how far."""

    drafted: int
    built: int
    measured: int
    by_outcome: dict[str, int]
    by_rung: dict[str, int]


class Spent(BaseModel):
    """What it cost."""

    wall_s: float
    device_s: float
    tokens: int
    usd: float


class Circumstances(BaseModel):
    """Under which circumstances the run's numbers came about."""

    opening: CircumstancesRow | None
    """While the baselines were timed, in the latest session."""
    confirm: CircumstancesRow | None
    """While the number that is reported was measured."""


class Refused(BaseModel):
    """A file that the user gave and that failed."""

    file: str
    candidate: str
    rung: str
    outcome: Outcome
    reason: str


class RunAnswer(base.Answer):
    """What a run found."""

    run: str
    task: str
    device: str
    status: Status
    best: Best | None
    leading: Leading | None
    rejected: tuple[Refused, ...]
    """The user's own files that failed."""
    counts: Counts
    spent: Spent
    policy: Policy
    circumstances: Circumstances
    files: tuple[str, ...]
    next: tuple[str, ...]
    """Commands to go on with; empty where nothing was left undone."""

    _summary: RunSummary

    @classmethod
    def of(cls, summary: RunSummary) -> Self:
        """The answer that a summary gives."""
        run, counts, spent = summary.run, summary.counts, summary.spent
        files = sorted(path for path in summary.folder.glob("*") if path.is_file())
        answer = cls(
            run=run.id,
            task=summary.task.name,
            device=run.spec.device,
            status=run.status,
            best=_best(summary),
            leading=_leading(summary),
            rejected=tuple(map(_refused, summary.refused)),
            counts=Counts(
                drafted=counts.drafted,
                built=counts.built,
                measured=counts.measured,
                by_outcome=counts.by_outcome,
                by_rung=counts.by_rung,
            ),
            spent=Spent(
                wall_s=spent.wall_s,
                device_s=spent.device_s,
                tokens=spent.tokens,
                usd=spent.usd,
            ),
            policy=summary.policy,
            circumstances=Circumstances(
                opening=CircumstancesRow.of(summary.session),
                confirm=CircumstancesRow.of(summary.confirmed),
            ),
            files=tuple(map(str, files)),
            next=tuple(onward.paste(summary)),
        )
        answer._summary = summary
        return answer

    @property
    def summary(self) -> RunSummary:
        """Everything that the store knows, for the Python API and the text."""
        return self._summary

    def exit_code(self) -> int:
        """0 a confirmed improvement or nothing left to win, 3 none, 4 budget, 130 interrupted."""
        return EXIT.get(self.status, 0)

    def text(self) -> str:
        """One screen."""
        return report.run_text(self._summary)

    def notes(self) -> list[str]:
        """What to paste next, and whether the number should be measured again first."""
        again = [f"hint: {line}" for line in onward.doubts(self._summary)]
        if self.leading and self.leading.source_path:
            again.append(f"hint: who leads, not confirmed, is kept in {self.leading.source_path}")
        closer = look_closer(self._summary)
        return [*again, *(f"next: {line}" for line in filter(None, (closer, *self.next)))]


def _refused(found: Rejection) -> Refused:
    look = found.look
    return Refused(
        file=found.file,
        candidate=found.candidate.id,
        rung=look.rung.word,
        outcome=look.outcome,
        reason=look.reason,
    )


def _best(summary: RunSummary) -> Best | None:
    best, confirmed = summary.best, summary.confirmed
    # The closest candidate of a run that found no improvement is confirmed too: it is no winner.
    if best is None or confirmed is None or summary.run.status == "no_improvement":
        return None
    return Best(
        candidate=best.id,
        language=best.language,
        strategy=best.strategy,
        tunables=dict(best.tunables),
        source_path=_kept(summary, "best"),
        comparisons=tuple(map(ComparisonRow.of, confirmed.comparisons)),
        roofline=RooflineRow.of(confirmed.roofline),
        earlier=tuple(
            Confirm(
                outcome=one.outcome.value,
                comparisons=tuple(map(ComparisonRow.of, one.comparisons)),
            )
            for one in summary.earlier
        ),
        audits=tuple(
            AuditRow(at=one.at, verdict=one.verdict, differences=one.differences)
            for one in summary.audits
        ),
    )


def _leading(summary: RunSummary) -> Leading | None:
    if summary.leading is None:
        return None
    who = summary.leading.candidate
    return Leading(
        candidate=who.id,
        language=who.language,
        strategy=who.strategy,
        tunables=dict(who.tunables),
        source_path=_kept(summary, "leading"),
        rung=summary.leading.rung.word,
    )


def _kept(summary: RunSummary, name: str) -> str:
    """The file of that name in the run's folder; empty where there is none."""
    found = sorted(path for path in summary.folder.glob(f"{name}.*") if path.is_file())
    return str(found[0]) if found else ""
