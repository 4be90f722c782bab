"""Further processes of one baseline, one after another, each in memory of its own."""

import contextlib
from collections.abc import Iterator

from kernelwright.checks.finding import Rejected
from kernelwright.evaluation.host import Host
from kernelwright.evaluation.rival_side import broken
from kernelwright.evaluation.sides import RingSide
from kernelwright.evaluation.worker import Worker
from kernelwright.records.task import Case

BIND_SECONDS = 300.0


class Twins:
    """Gives a baseline and its next twin to be timed against each other.

    Args:
        host: the bench.
        name: of the baseline.
        case: what is timed.
    """

    def __init__(self, host: Host, name: str, case: Case) -> None:
        self.host, self.name, self.case = host, name, case
        self._twin: Worker | None = None
        self._number = -1

    def sides(self) -> tuple[RingSide, RingSide]:
        """A twin and the baseline, both in memory where they were not before.

        Raises:
            Rejected: the baseline broke.
        """
        self._number += 1
        if self._number:
            self.host.move(self.case)
        # One that imports a framework takes seconds to start: it moves instead.
        if self._twin is None or self.name == "loop":
            self.close()
            self._twin = self.host.rivals.twin(self.name, self.host.ring(self.case))
        else:
            self._twin.bind(self.host.ring(self.case), BIND_SECONDS)
        secret = self.host.answers.seed("noise", self._number)
        one = self.host.rival_side(self.name, self.case, secret)
        return self.host.side(self._twin, self.host.ring(self.case), one.secret), one

    def close(self) -> None:
        """End the twin, if there is one."""
        twin, self._twin = self._twin, None
        if twin is not None:
            twin.close()


@contextlib.contextmanager
def twins(host: Host, name: str, case: Case) -> Iterator[Twins]:
    """Twins as long as they are needed; then everybody moves once more.

    Raises:
        TaskError: the baseline broke.
    """
    made = Twins(host, name, case)
    try:
        yield made
        host.move(case)
    except Rejected as rejection:
        raise broken(rejection.finding) from rejection
    finally:
        made.close()
