"""Two candidates timed against each other: both confined, both inspected, neither trusted.

At every place both get fresh processes and buffers, and who gets them first alternates, so that
exchanging the two exchanges nothing but their names.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.bench import Bench
from kernelwright.evaluation.clocks import Clocks
from kernelwright.evaluation.entrant import Entrant
from kernelwright.evaluation.noise import candidates_noise
from kernelwright.evaluation.places import inspect
from kernelwright.evaluation.session_controls import asking_us
from kernelwright.evaluation.sides import CandidateSide
from kernelwright.evaluation.trial import Trial
from kernelwright.records.job import JudgeJob
from kernelwright.records.task import Case
from kernelwright.timing.statistics import Noise


@contextmanager
def blaming_the_rival() -> Iterator[None]:
    """Mark what is found in the body as the rival's, since a verdict is on the candidate.

    Raises:
        Rejected: as the body, with ``side`` in its evidence.
    """
    try:
        yield
    except Rejected as rejection:
        found = rejection.finding
        evidence = {**found.evidence, "side": "rival"}
        raise Rejected(Finding(found.outcome, found.reason, evidence)) from None


class Opponent:
    """The rival of a job: another candidate, in processes of its own.

    Args:
        job: names it.
        bench: the trusted side.
        entrant: the rival, built.

    Raises:
        Rejected: it cannot be loaded.
    """

    def __init__(self, job: JudgeJob, bench: Bench, entrant: Entrant) -> None:
        self.name = job.rival.id if job.rival else ""
        self.entrant = entrant
        deadline = bench.deadline(bench.cases.timed[0])
        with blaming_the_rival():
            settled = entrant.settle()
        self.trial = Trial(bench.task, settled, bench.answers, deadline)

    def close(self) -> None:
        """End its process."""
        self.trial.worker.close()


def noises(bench: Bench, mine: Entrant, rival: Entrant) -> tuple[Noise, Noise]:
    """How far each of the two looks from itself in this session, on the main workload.

    Raises:
        Rejected: one of them failed.
    """
    case = bench.cases.timed[0]
    own = candidates_noise(bench, mine, case)
    with blaming_the_rival():
        return own, candidates_noise(bench, rival, case)


class RivalsSide(CandidateSide):
    """The rival's side: what is found there is said to be the rival's."""

    def ready(self) -> None:
        """As for any candidate."""
        with blaming_the_rival():
            super().ready()

    def block(self) -> float:
        """As for any candidate."""
        with blaming_the_rival():
            return super().block()

    def finish(self) -> None:
        """As for any candidate."""
        with blaming_the_rival():
            super().finish()


Kind = TypeVar("Kind", bound=CandidateSide)


class Duel:
    """Gives the sides of one comparison, one place after another.

    Args:
        job: whose plan says over how many places, and how much is validated.
        bench: the trusted side.
        trial: the candidate; its worker is replaced at every place.
        mine: the candidate.
        opponent: the rival.
        case: what is timed.
    """

    def __init__(
        self,
        job: JudgeJob,
        bench: Bench,
        trial: Trial,
        mine: Entrant,
        opponent: Opponent,
        case: Case,
    ) -> None:
        self._job = job
        self._bench = bench
        self._trial = trial
        self._mine = mine
        self._opponent = opponent
        self._case = case
        self._sides: tuple[CandidateSide, RivalsSide] | None = None
        self._number = 0
        self.workload = case.workload
        self.count = job.plan.placements
        self.clocks = Clocks()
        """Of the candidate, at all places together."""
        self._clocks_of_the_rival = Clocks()

    def __call__(self) -> tuple[CandidateSide, RivalsSide]:
        """The next place's sides; the place before is left.

        Raises:
            Rejected: one of the two failed a check on leaving, or in its new process.
        """
        self._move_out()
        self._number += 1
        owners = ("candidate", "rival") if self._number % 2 else ("rival", "candidate")
        self._bench.move(self._case, owners)
        for owner in owners:
            if owner == "candidate":
                self._settle(self._trial, self._mine, owner)
            else:
                with blaming_the_rival():
                    self._settle(self._opponent.trial, self._opponent.entrant, owner)
        secret = self._bench.answers.seed(
            "pair", self._job.number, self._case.workload, self._opponent.name, self._number
        )
        mine = self._side(CandidateSide, self._trial, "candidate", secret)
        mine.clocks = self.clocks
        rival = self._side(RivalsSide, self._opponent.trial, "rival", secret)
        rival.clocks = self._clocks_of_the_rival
        self._sides = mine, rival
        return self._sides

    def _settle(self, trial: Trial, entrant: Entrant, owner: str) -> None:
        trial.move(entrant.settle())
        trial.bind(self._bench.ring(self._case, owner))
        if self.count > 1:
            trial.worker.lock(trial.deadline)

    def _side(self, kind: type[Kind], trial: Trial, owner: str, secret: int) -> Kind:
        bench, plan = self._bench, self._job.plan
        ring, base = bench.ring(self._case, owner), bench.answers.base(self._case).contents
        ring.inputs.fill(base)
        side = kind(trial.worker, ring, base, secret, bench.flush, trial.deadline)
        inspect(side, bench, plan, self.count, trial.note)
        return side

    def leave(self) -> None:
        """Make the checks that are due when the last place is left.

        Raises:
            Rejected: a call was wrong, or the clocks disagree.
        """
        if self._sides is not None:
            self._move_out()
            if not self.clocks.claimed:  # the time may have been over before the first block
                return
            self.clocks.check(self._asking)
            with blaming_the_rival():
                self._clocks_of_the_rival.check(self._asking)

    def _asking(self) -> float:
        return asking_us(self._bench, self._bench.nothing)

    def _move_out(self) -> None:
        sides, self._sides = self._sides, None
        if sides is not None and all(side.blocks for side in sides):
            mine, rival = sides
            mine.finish()
            rival.finish()
