"""Read what is stored, and hand out the one object that may write.

Everybody may read through :class:`Store`; only the search (or a one-shot verb) asks for its
:class:`Writer`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.post import Post
from kernelwright.records.run import Run
from kernelwright.records.rung import Rung
from kernelwright.records.task import Task


@dataclass(frozen=True)
class StoredEvaluation:
    """An evaluation with what the store knows about it."""

    number: int
    sequence: int
    """Order of completion within the run, from 1."""
    evaluation: Evaluation
    wall_s: float
    """Wall seconds of the run when it completed."""
    device_s: float
    """Device seconds of the run when it completed."""


def default_url() -> str:
    """``sqlite`` under ``$KERNELWRIGHT_HOME``, else ``$XDG_DATA_HOME/kernelwright``."""
    raise NotImplementedError


class Store:
    """One store, opened for reading."""

    home: Path
    """Folder beside the store, for artifacts and run folders."""

    @classmethod
    def open(cls, url: str | None = None) -> "Store":
        """Open or create the store at ``url`` (default :func:`default_url`).

        Raises:
            StoreError: it is no store, a newer one, or cannot be read or written.
        """
        raise NotImplementedError

    def runs(self) -> Sequence[Run]:
        """Every run, newest first."""
        raise NotImplementedError

    def run(self, run_id: str) -> Run:
        """One run, by id or unambiguous prefix, or ``latest``. UsageError if there is none."""
        raise NotImplementedError

    def task(self, content_hash: str) -> Task:
        """The task of that content hash."""
        raise NotImplementedError

    def candidate(self, run_id: str, candidate_id: str) -> Candidate:
        """One candidate of a run."""
        raise NotImplementedError

    def candidates(self, run_id: str) -> Sequence[Candidate]:
        """Every candidate of a run in the order in which they were proposed."""
        raise NotImplementedError

    def evaluations(
        self, run_id: str, candidate_id: str = "", rung: Rung | None = None
    ) -> Sequence[StoredEvaluation]:
        """Evaluations of a run in order of completion."""
        raise NotImplementedError

    def posts(self, run_id: str) -> Sequence[Post]:
        """The board of a run."""
        raise NotImplementedError

    def run_folder(self, run_id: str) -> Path:
        """``<home>/runs/<run-id>``; may not exist yet."""
        raise NotImplementedError

    def close(self) -> None:
        """Release the connections."""
        raise NotImplementedError
