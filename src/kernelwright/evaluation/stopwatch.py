"""Times a candidate that is right: against baselines, or against another candidate."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kernelwright.checks.finding import Rejected
from kernelwright.errors import JudgeError
from kernelwright.evaluation import stability
from kernelwright.evaluation.bench import Bench
from kernelwright.evaluation.duel import Duel, Opponent, blaming_the_rival, noises
from kernelwright.evaluation.entrant import Entrant
from kernelwright.evaluation.places import Places
from kernelwright.evaluation.trial import Trial
from kernelwright.records.evaluation import QUARANTINED
from kernelwright.records.job import JudgeJob
from kernelwright.records.measurement import Comparison, Measurement
from kernelwright.records.rung import Rung
from kernelwright.records.task import Case
from kernelwright.tasks.draws import ENOUGH
from kernelwright.timing.protocol import Pairs, compare, comparison
from kernelwright.timing.statistics import Noise, summarize

COMPARE_SECONDS = 20.0
MORE_SECONDS = 5.0
"""For each baseline that is not the one to beat."""
TIMING_SHARE = 0.8
"""Of the time that a job has left; what follows the timing takes some too."""


class Stopwatch:
    """The timed part of one look.

    Args:
        job: whose plan says how much is timed.
        bench: the trusted side.
        trial: the candidate, judged right.
        entrant: the same, for fresh processes.
        rival: another candidate in the place of the baselines, if there is one.
        until: when an answer is wanted, by the monotonic clock.

    Raises:
        Rejected: the rival cannot be loaded.
    """

    def __init__(
        self,
        job: JudgeJob,
        bench: Bench,
        trial: Trial,
        entrant: Entrant,
        rival: Entrant | None,
        until: float = math.inf,
    ) -> None:
        self._until = until
        self._job = job
        self._bench = bench
        self._trial = trial
        self._entrant = entrant
        self._opponent = Opponent(job, bench, rival) if rival else None
        self._share_s = math.inf
        self._noises: tuple[Noise, Noise] | None = None
        """Of the candidate and of the rival."""
        self.measurements: list[Measurement] = []
        self.comparisons: list[Comparison] = []

    def add(self, case: Case, left: int = 1) -> None:
        """Time one workload.

        Args:
            case: what is timed.
            left: how many are to share the time that is left, this one among them.

        Raises:
            Rejected: a check on the timed calls failed.
        """
        self._share_s = TIMING_SHARE * (self._until - time.monotonic()) / left
        if self._opponent is not None and self._noises is None:
            with self._trial.check("against itself"):
                self._noises = noises(self._bench, self._entrant, self._opponent.entrant)
        with self._trial.check(f"time {case.workload}"), self._recurrence(case):
            if self._opponent is None:
                self._against_baselines(case)
            else:
                self._against_rival(case, self._opponent)
            self._must_be_possible(case, self.measurements[-1].time_us.median)
        if "timed_stability" in self._job.plan.stages:
            stability.afterwards(self._trial, case, self._bench.ring(case))
            if self._opponent is not None:
                with blaming_the_rival():
                    ring = self._bench.ring(case, "rival")
                    stability.afterwards(self._opponent.trial, case, ring)

    @contextmanager
    def _recurrence(self, case: Case) -> Iterator[None]:
        """Note that calls in the body had contents of earlier ones in full, and few of them."""
        draws = self._bench.answers.draws(case)
        before = draws.repeated if draws else 0
        yield
        if draws and draws.repeated > before and draws.at_hand < ENOUGH:
            known = self._trial.labels.setdefault("contents_recur", {})
            known[case.workload] = draws.at_hand

    def _must_be_possible(self, case: Case, time_us: float) -> None:
        """Below a confirm a time that cannot be is a label, and its candidate's case for one."""
        found = self._bench.compulsory.implausible(case, time_us)
        if found is None:
            return
        if self._job.plan.rung is Rung.CONFIRM:
            raise Rejected(found)
        self._trial.labels[QUARANTINED] = {"workload": case.workload, **found.evidence}

    def close(self) -> None:
        """End the rival's process."""
        if self._opponent is not None:
            self._opponent.close()

    def _against_baselines(self, case: Case) -> None:
        """The baseline to beat, and the others if asked."""
        job, bench = self._job, self._bench
        main = bench.against(job.against)
        names = [main]
        if job.plan.all_baselines:
            names += [name for name in bench.times if name != main]
        places = Places(job, bench, self._trial, case, names, self._entrant.settle)
        self._compared(places, names, bench.noises[main], places.narrow)

    def _against_rival(self, case: Case, opponent: Opponent) -> None:
        if self._noises is None:
            raise JudgeError("two candidates were to be timed before their noise was known")
        mine, theirs = self._noises
        places = Duel(self._job, self._bench, self._trial, self._entrant, opponent, case)
        pairs = self._compared(places, [opponent.name], mine.joined(theirs))
        margins = {
            "candidate": mine.margin(len(pairs), places.count),
            "rival": theirs.margin(len(pairs), places.count),
        }
        self._trial.labels.setdefault("own_margins", margins)

    def _compared(
        self,
        places: Places | Duel,
        names: list[str],
        noise: Noise,
        narrow: Callable[[int], None] = lambda number: None,
    ) -> Pairs:
        """Pair the candidate with ``names`` on one workload; the pairs with the first."""
        most_s = COMPARE_SECONDS + MORE_SECONDS * (len(names) - 1)
        deadline = time.monotonic() + min(most_s, self._share_s)
        found = compare(
            places,
            looks=self._job.plan.looks,
            noise=noise,
            seed=self._job.seed,
            placements=places.count,
            enough_time=lambda: time.monotonic() < deadline,
            narrow=narrow,
        )
        places.leave()
        keep = self._job.keep_samples
        self.comparisons += [
            comparison(name, places.workload, one, keep_samples=keep)
            for name, one in zip(names, found, strict=True)
        ]
        pairs = found[0].pairs
        self.measurements.append(
            Measurement(
                workload=places.workload,
                time_us=summarize(pairs.candidate_us),
                noop_us=self._entrant.noop_us,
                clocks=places.clocks.medians(),
                samples_us=tuple(pairs.candidate_us) if keep else (),
            )
        )
        return pairs
