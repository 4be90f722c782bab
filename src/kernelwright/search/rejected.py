"""Why candidates of a run were rejected: the commonest rejection, with the first that met it.

Refuses to speak where somebody passed a timed look: then the run is about who did.
"""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.rung import Rung
from kernelwright.store.step import StoredEvaluation
from kernelwright.tasks import suites


@dataclass(frozen=True)
class Rejection:
    """The commonest, as the first candidate met it."""

    candidate: Candidate
    look: Evaluation
    file: str = ""
    """The user's own file that it was read from, if it was."""

    def again(self, task: str) -> str:
        """The command that judges it again and says everything; empty without a file of its own.

        Args:
            task: name of the task; who names a file as a task must put it in.
        """
        if not self.file:
            return ""
        who = shlex.quote(self.file)
        words = ["kernelwright evaluate", task if task in suites.names() else "TASK", who]
        values = ",".join(f"{name}={value}" for name, value in self.candidate.tunables.items())
        words += [f"--tune {shlex.quote(values)}"] if values else []
        words += [f"--rung {self.look.rung.word}"] if self.look.rung is not Rung.SCREEN else []
        return " ".join(words)


def failures(looks: Sequence[StoredEvaluation]) -> dict[str, Evaluation]:
    """How each candidate ended whose last look failed, by its id."""
    last = {one.evaluation.candidate: one.evaluation for one in looks}
    return {name: look for name, look in last.items() if not look.passed}


def commonest(looks: Sequence[StoredEvaluation]) -> Evaluation | None:
    """The first rejection of the outcome that most candidates ended with; None where one passed.

    Args:
        looks: evaluations of a run, in order of completion.
    """
    if any(one.evaluation.comparisons for one in looks):
        return None
    failed = list(failures(looks).values())
    counts = Counter(look.outcome for look in failed)
    return max(failed, key=lambda look: counts[look.outcome], default=None)
