"""What was stored of a run's best and what was found anew, side by side, and whether it holds."""

from typing import Literal, Self

from pydantic import BaseModel

from kernelwright.devices.disturbance import disturbance
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Build, Evaluation
from kernelwright.report import summary as report
from kernelwright.report import text
from kernelwright.search.replay import ReplayReport
from kernelwright.search.summary import RunSummary
from kernelwright.verbs import base
from kernelwright.verbs.agreement import WORDS, AgreementRow, agreements, differences, shown
from kernelwright.verbs.rows import CandidateRow, CircumstancesRow


class Pair(BaseModel):
    """The same thing then and now."""

    stored: str
    fresh: str


class BuildsRow(BaseModel):
    """What was built then and now."""

    same_binary: bool
    compiler: Pair
    flags: Pair
    binary: Pair


class ReplayRow(BaseModel):
    """Whether the stored decisions come out again in this version."""

    decisions: int
    matches: bool
    first_difference: str


class BothCircumstances(BaseModel):
    """Under which circumstances was measured."""

    stored: CircumstancesRow | None
    fresh: CircumstancesRow | None


class AuditAnswer(base.Answer):
    """Whether what a run says of its best holds."""

    run: str
    task: str
    candidate: CandidateRow
    verdict: Literal["holds", "differs"]
    differences: tuple[str, ...]
    """What does not hold; empty where all does."""
    genuine: bool
    """Whether the stored source and values are what the candidate's id says."""
    outcome: Pair
    comparisons: tuple[AgreementRow, ...]
    build: BuildsRow | None
    """None where nothing was built."""
    replay: ReplayRow
    circumstances: BothCircumstances
    changed: dict[str, Pair]
    """Parts of the environment that are not what they were."""
    remembered: bool = False
    """Whether the run's store now knows of this audit."""

    _best: Candidate
    _now: Evaluation | None

    @classmethod
    def of(
        cls,
        summary: RunSummary,
        best: Candidate,
        then: Evaluation,
        now: Evaluation | None,
        replayed: ReplayReport,
    ) -> Self:
        """The answer that both measurements give.

        Args:
            summary: the run.
            best: its best.
            then: the confirm that is stored.
            now: the one that was just made; None where the source is not genuine.
            replayed: what replaying the decisions gave.
        """
        rows = agreements(then.comparisons, now.comparisons if now else ())
        found = tuple(differences(then, now, rows))
        answer = cls(
            run=summary.run.id,
            task=summary.task.name,
            candidate=CandidateRow(
                id=best.id, language=best.language, fingerprint=best.fingerprint
            ),
            verdict="differs" if found else "holds",
            differences=found,
            genuine=now is not None,
            outcome=Pair(stored=then.outcome.value, fresh=now.outcome.value if now else ""),
            comparisons=rows,
            build=_builds(then.build, now.build if now else None),
            replay=ReplayRow(
                decisions=replayed.decisions,
                matches=replayed.matches,
                first_difference=replayed.first_difference,
            ),
            circumstances=BothCircumstances(
                stored=CircumstancesRow.of(then), fresh=CircumstancesRow.of(now)
            ),
            changed=_changed(then, now) if now else {},
        )
        answer._best, answer._now = best, now
        return answer

    def exit_code(self) -> int:
        """3 when it does not hold."""
        return 0 if self.verdict == "holds" else 3

    def text(self) -> str:
        """What was checked, then and now, the verdict."""
        return "\n\n".join(filter(None, [self._head(), self._table(), self._end()]))

    def notes(self) -> list[str]:
        """What was noticed besides."""
        said = []
        if self._now and (found := disturbance(self._now.conditions)):
            said.append(f"hint: {found} meanwhile: audit again when it is quiet")
        if not self.remembered:
            said.append("hint: the store cannot be written now, so it does not know of this audit")
        return said

    def _head(self) -> str:
        lines = [
            ("run", self.run),
            ("task", self.task),
            ("candidate", f"{report.strategy(self._best)} ({self.candidate.id})"),
            ("source", "what its id says" if self.genuine else "NOT what its id says"),
            ("decisions", self._replayed()),
        ]
        if self.build:
            lines.append(("build", _built(self.build)))
        lines += [
            ("changed", f"{name}: {one.stored} then, {one.fresh} now")
            for name, one in self.changed.items()
        ]
        lines.append(("outcome", f"{self.outcome.stored} then, {self.outcome.fresh or '-'} now"))
        return "\n".join(f"{name:<9}  {value}" for name, value in lines)

    def _replayed(self) -> str:
        if self.replay.matches:
            return f"all {self.replay.decisions} come out again"
        return f"come out differently in this version: {self.replay.first_difference}"

    def _table(self) -> str:
        if not self.comparisons:
            return ""
        return text.table(
            ("against", "workload", "then", "now", ""),
            [
                (
                    one.baseline,
                    one.workload,
                    shown(one.stored),
                    shown(one.fresh),
                    WORDS[one.agreement],
                )
                for one in self.comparisons
            ],
        )

    def _end(self) -> str:
        lines = [text.labelled("verdict", self.verdict.upper())]
        lines += [text.labelled("", one) for one in self.differences]
        return "\n".join(lines)


def _builds(then: Build | None, now: Build | None) -> BuildsRow | None:
    if now is None or then is None:
        return None
    return BuildsRow(
        same_binary=bool(now.binary) and then.binary == now.binary,
        compiler=Pair(stored=then.compiler, fresh=now.compiler),
        flags=Pair(stored=" ".join(then.flags), fresh=" ".join(now.flags)),
        binary=Pair(stored=then.binary, fresh=now.binary),
    )


def _built(found: BuildsRow) -> str:
    if found.same_binary:
        return f"the same binary, by {found.compiler.fresh}"
    old = f"{found.compiler.stored} {found.flags.stored}".strip()
    new = f"{found.compiler.fresh} {found.flags.fresh}".strip()
    by = f"both by {new}" if old == new else f"by {old} then, by {new} now"
    return f"another binary, {by}"


def _changed(then: Evaluation, now: Evaluation) -> dict[str, Pair]:
    """Only what is known of both; the load always changes."""
    names = then.environment.keys() & now.environment.keys() - {"load"}
    return {
        name: Pair(stored=then.environment[name], fresh=now.environment[name])
        for name in sorted(names)
        if then.environment[name] != now.environment[name]
    }
