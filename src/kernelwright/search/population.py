"""The candidates of a run: which are known, which are twins, what each look said.

Two candidates with the same binary are one measurement: the later one is a twin, gets a copy of
every look of the first, and never a look of its own.
"""

from collections import deque
from collections.abc import Iterable

from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.rung import Rung


class Population:
    """Candidates by id, with what is known of them."""

    def __init__(self) -> None:
        self.known: dict[str, Candidate] = {}
        self.coarse: set[str] = set()
        self.built: deque[str] = deque()
        """Built and waiting for their first look, oldest first."""
        self._looks: dict[str, dict[Rung, Evaluation]] = {}
        self._owners: dict[str, str] = {}
        self._twins: dict[str, list[str]] = {}

    def add(self, candidate: Candidate, *, coarse: bool) -> None:
        """A candidate was proposed."""
        self.known[candidate.id] = candidate
        if coarse:
            self.coarse.add(candidate.id)

    def parent(self, candidate: Candidate) -> Candidate | None:
        """The candidate it was made from, if that belongs to the run."""
        return next((self.known[one] for one in candidate.parents if one in self.known), None)

    def drafted(self, evaluation: Evaluation) -> list[Evaluation]:
        """A candidate was built; copies of looks, if a twin was built before."""
        candidate = evaluation.candidate
        binary = evaluation.build.binary if evaluation.build else ""
        owner = self._owners.setdefault(binary, candidate) if binary else candidate
        if owner == candidate:
            self.built.append(candidate)
            return []
        self._twins.setdefault(owner, []).append(candidate)
        looks = self._looks.get(owner, {}).values()
        return [copied(look, candidate) for look in looks]

    def looked(self, evaluation: Evaluation) -> list[Evaluation]:
        """A look ended; copies of it for the twins."""
        self._looks.setdefault(evaluation.candidate, {})[evaluation.rung] = evaluation
        if evaluation.rung is Rung.CONFIRM:
            return []
        return [copied(evaluation, twin) for twin in self._twins.get(evaluation.candidate, ())]

    def look(self, candidate: str, rung: Rung) -> Evaluation | None:
        """What a look said, if it was made."""
        return self._looks.get(candidate, {}).get(rung)

    def left_undone(self) -> str:
        """What was not tried although nothing more is proposed: only who passes is varied."""
        passed = {one for one, looks in self._looks.items() if any(map(_timed, looks.values()))}
        passed.update(twin for one in passed & self._twins.keys() for twin in self._twins[one])
        varied = {self.known[one].source for one in passed}
        fixed = {one.source for one in self.known.values() if _choices(one)} - varied
        if not passed:
            more = ", so that no other values of their tunables were tried" if fixed else ""
            return f"no candidate passed a timed look{more}"
        if not fixed:
            return "everything was tried"
        kernels = "a kernel" if len(fixed) == 1 else f"{len(fixed)} kernels"
        return f"everything was tried but other values of {kernels} that passed no timed look"

    def coarse_are_seen(self, in_flight: Iterable[str]) -> bool:
        """Whether no structure is waiting for a look or in the middle of one."""
        return not self.coarse.intersection(self.built) and not self.coarse.intersection(in_flight)


def _timed(look: Evaluation) -> bool:
    return bool(look.comparisons) and not look.quarantined


def _choices(candidate: Candidate) -> bool:
    """Whether its header leaves anything to choose."""
    return any(isinstance(one, tuple) and len(one) > 1 for one in candidate.header.tune.values())


def copied(evaluation: Evaluation, twin: str) -> Evaluation:
    """The same verdict for a candidate with the same binary; it cost nothing."""
    change = {
        "candidate": twin,
        "copied_from": evaluation.candidate,
        "seconds": 0.0,
        "device_seconds": 0.0,
    }
    return evaluation.model_copy(update=change)
