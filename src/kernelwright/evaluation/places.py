"""Where a pair is timed: processes and buffers, fresh ones as often as the plan wants.

Where its buffers happen to lie in physical memory moves a kernel's times for the whole life of a
process, by a few per cent and now and then by half. Within one place no number of pairs averages
that away, so a number that is to be reported comes from several.
"""

from collections.abc import Callable

from kernelwright.evaluation.bench import Bench
from kernelwright.evaluation.clocks import Clocks
from kernelwright.evaluation.rival_side import of_the_task
from kernelwright.evaluation.session_controls import asking_us
from kernelwright.evaluation.sides import CandidateSide, Note, RingSide
from kernelwright.evaluation.trial import Trial
from kernelwright.evaluation.worker import Worker
from kernelwright.records.job import JudgeJob
from kernelwright.records.rung import RungPlan
from kernelwright.records.task import Case

MOST_CHECKED = 40


class Places:
    """Gives the sides of one comparison, one place after another.

    Args:
        job: whose plan says how much is validated.
        bench: the trusted side.
        trial: the candidate; its worker is replaced when it moves.
        case: what is timed.
        baselines: the rivals' names; that of the one to beat comes first.
        settle: gives a fresh worker with the candidate loaded.
    """

    def __init__(
        self,
        job: JudgeJob,
        bench: Bench,
        trial: Trial,
        case: Case,
        baselines: list[str],
        settle: Callable[[], Worker],
    ) -> None:
        self._job = job
        self._bench = bench
        self._trial = trial
        self._case = case
        self._baselines = baselines
        self._settle = settle
        self._side: CandidateSide | None = None
        self._number = 0
        self.workload = case.workload
        self.count = job.plan.placements
        self.clocks = Clocks()
        """Of all places together: in one of them there may be few blocks."""

    def __call__(self) -> list[RingSide]:
        """The next place's sides, the candidate's first; the place before is left.

        Raises:
            Rejected: the candidate failed a check on leaving, or in its new process.
            TaskError: a baseline broke.
        """
        if self._side is not None:
            self._move_out()
            self._trial.move(self._settle())
            self._bench.move(self._case)
        self._number += 1
        about = (self._job.number, self._case.workload, self._number)
        secret = self._bench.answers.seed("pair", *about)
        base = self._bench.answers.base(self._case).contents
        rivals = [self._rival(name, secret) for name in self._baselines]
        ring = self._bench.ring(self._case)
        self._trial.bind(ring)
        if self.count > 1:  # as in a confirm; else the other workloads come to the same process
            self._trial.worker.lock(self._trial.deadline)
        side = CandidateSide(
            self._trial.worker, ring, base, secret, self._bench.flush, self._trial.deadline
        )
        side.clocks = self.clocks
        inspect(side, self._bench, self._job.plan, self.count, self._trial.note)
        self._side = side
        return [side, *rivals]

    def narrow(self, number: int) -> None:
        """Leave all rivals but one behind at the places to come."""
        self._baselines = [self._baselines[number]]

    def _rival(self, name: str, secret: int) -> RingSide:
        with of_the_task(self._bench.rivals, name):
            return self._bench.rival_side(name, self._case, secret)

    def leave(self) -> None:
        """Make the checks that are due when the last place is left.

        Raises:
            Rejected: a call was wrong, or the clocks disagree.
        """
        if self._side is not None:
            self._move_out()
            if self.clocks.claimed:  # the time may have been over before the first block
                bench = self._bench
                self.clocks.check(lambda: asking_us(bench, bench.nothing))

    def _move_out(self) -> None:
        side, self._side = self._side, None
        if side is not None and side.blocks:
            side.finish()


def inspect(
    side: CandidateSide,
    bench: Bench,
    plan: RungPlan,
    places: int,
    note: Note,
) -> None:
    """Validate some of a side's timed calls, as its plan says.

    Args:
        side: whose.
        bench: the trusted side.
        plan: of the rung.
        places: how many places its pairs are spread over.
        note: told of every output that passed.
    """
    share = min(plan.checked_share, MOST_CHECKED / plan.looks[-1])
    blocks = max(plan.looks[0] // places, 1)
    side.inspect(bench.answers, bench.task.tolerance, share, plan.checked_least, blocks, note)
