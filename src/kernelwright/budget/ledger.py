"""What was spent, what is set aside for jobs in flight, and what a job is likely to cost.

Everything follows from what it is told: it reads no clock, so a replay keeps the same books.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kernelwright.records.evaluation import Evaluation
from kernelwright.records.run import Spent
from kernelwright.records.rung import Rung

CONFIRM_LOOKS = 2.5
"""How many full looks a confirm takes besides opening: more baselines, in several places."""
SAFETY = 1.5
"""A job is expected to take this many times the mean of its rung: means are exceeded."""


@dataclass(frozen=True)
class Reservation:
    """What is set aside for one job in flight."""

    rung: Rung
    seconds: float
    since_s: float
    """Wall seconds of the run when it was dispatched."""


class Ledger:
    """The books of one run."""

    def __init__(self, priors: Mapping[Rung, float]) -> None:
        """Begin with nothing spent.

        Args:
            priors: seconds of a job of each rung, until one has been seen.
        """
        self._priors = dict(priors)
        self._seconds: dict[Rung, float] = dict.fromkeys(priors, 0.0)
        self._seen: dict[Rung, int] = dict.fromkeys(priors, 0)
        self.in_flight: dict[int, Reservation] = {}
        self.confirm_s = 0.0
        self.wall_s = 0.0
        self.device_s = 0.0
        self.evaluations = 0
        self._settled = False
        """Whether jobs in flight are given up, and charged for what they took."""

    @property
    def spent(self) -> Spent:
        """The record of what was spent, jobs in flight excluded."""
        return Spent(wall_s=self.wall_s, device_s=self.device_s, evaluations=self.evaluations)

    def looks_in_flight(self) -> int:
        """Jobs in flight that hold, or will hold, the device."""
        return sum(job.rung > Rung.DRAFT for job in self.in_flight.values())

    def drafts_in_flight(self) -> int:
        """Jobs in flight that only build."""
        return len(self.in_flight) - self.looks_in_flight()

    def estimate(self, rung: Rung, safety: float = SAFETY) -> float:
        """Seconds to set aside for a job of that rung.

        A rung that was not seen yet is expected to exceed its prior as far as the highest rung
        seen below it exceeded its own.

        Args:
            rung: the job's.
            safety: how many times the mean; 1: as long as it is expected to take.
        """
        if self._seen[rung]:
            return safety * self._seconds[rung] / self._seen[rung]
        if rung is Rung.CONFIRM and self.confirm_s:
            return safety * self.confirm_s + CONFIRM_LOOKS * self.estimate(Rung.FULL, safety)
        below = [lower for lower, count in self._seen.items() if count and lower < rung]
        slower = 1.0
        if below:
            highest = max(below)
            slower = self._seconds[highest] / self._seen[highest] / self._priors[highest]
        return self._priors[rung] * max(1.0, slower)

    def claim(self, number: int, rung: Rung) -> float:
        """Set aside what a job may cost; the seconds."""
        seconds = self.estimate(rung)
        self.in_flight[number] = Reservation(rung, seconds, self.wall_s)
        return seconds

    def complete(self, number: int, evaluation: Evaluation, wall_s: float) -> None:
        """A job came back at ``wall_s`` of the run's wall clock."""
        reservation = self.in_flight.pop(number)
        self.wall_s = max(self.wall_s, wall_s)
        self.device_s += evaluation.device_seconds
        # The wait for a turn counts: it is the run's time, whatever the job itself took.
        self._seconds[reservation.rung] += self.wall_s - reservation.since_s
        self._seen[reservation.rung] += 1
        self.evaluations += reservation.rung > Rung.DRAFT

    def lost_s(self) -> float:
        """Wall seconds charged when every job in flight was lost to a kill."""
        if self._settled:
            return 0.0
        return max((job.seconds for job in self.in_flight.values()), default=0.0)

    def settle(self) -> None:
        """The run ends: jobs in flight are given up, and what they took of the device is spent.

        It may end again without having begun again: then nothing is charged twice.
        """
        if self._settled:
            return
        looks = [job for job in self.in_flight.values() if job.rung > Rung.DRAFT]
        self.device_s += sum(self.wall_s - job.since_s for job in looks)
        self._settled = True

    def charge_lost(self) -> None:
        """Charge the jobs in flight as spent; they will be done again.

        The time between the last completion and the kill is unknown: the reservation stands in
        for it, so that killing a run again and again cannot make its budget last for ever. Jobs
        that were given up at the end of a run cost no more than was charged then.
        """
        if self._settled:
            return
        looks = [job for job in self.in_flight.values() if job.rung > Rung.DRAFT]
        self.wall_s += self.lost_s()
        self.device_s += sum(job.seconds for job in looks)
        self.evaluations += len(looks)

    def reopened(self, wall_s: float, confirm_s: float = 0.0) -> None:
        """The executor is open (again) at ``wall_s``: jobs in flight start afresh.

        Args:
            wall_s: of the run's wall clock.
            confirm_s: what a confirm takes before its first look, as the executor expects.
        """
        self.confirm_s = confirm_s
        self._settled = False
        self.wall_s = max(self.wall_s, wall_s)
        self.in_flight = {
            number: Reservation(job.rung, job.seconds, self.wall_s)
            for number, job in self.in_flight.items()
        }

    def remaining_s(self) -> float:
        """Wall seconds until the jobs in flight should be back."""
        return max(
            (max(0.0, job.since_s + job.seconds - self.wall_s) for job in self.in_flight.values()),
            default=0.0,
        )
