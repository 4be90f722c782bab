"""The proposers of a run, asked in the order of its spec, the user's own files first."""

from collections.abc import Container, Sequence
from typing import NamedTuple

from kernelwright import plugins
from kernelwright.proposers.base import Context, Proposer
from kernelwright.proposers.start import Start
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.search.parents.base import Parents

MOST_REPEATS = 1000
"""Candidates already known that a proposer may name in a row before it is passed over."""


class Proposal(NamedTuple):
    """What is to be built next."""

    candidate: Candidate
    coarse: bool
    """Whether it is a structure, to be seen broadly, not a point of a space."""


class Authors:
    """Asks the first proposer that has something new; tells all of them everything."""

    def __init__(self, context: Context, names: Sequence[str], parents: Parents) -> None:
        """Make the proposers.

        Raises:
            UsageError: there is no proposer of that name.
        """
        self._parents = parents
        self._proposers: list[Proposer] = [Start(context)] if context.start else []
        self._proposers += [plugins.make("proposers", name, context) for name in names]

    def next(self, known: Container[str]) -> Proposal | None:
        """A candidate that is not known yet; None if there is none.

        Args:
            known: ids of the run's candidates.
        """
        for proposer in self._proposers:
            for _ in range(MOST_REPEATS):
                candidate = proposer.ask(self._parents.order())
                if candidate is None:
                    break
                if candidate.id not in known:
                    for parent in candidate.parents[:1]:
                        self._parents.used(parent)
                    return Proposal(candidate, proposer.coarse and not candidate.parents)
        return None

    def tell(self, candidate: Candidate, evaluation: Evaluation) -> None:
        """What became of a candidate, whoever wrote it."""
        for proposer in self._proposers:
            proposer.tell(candidate, evaluation)
