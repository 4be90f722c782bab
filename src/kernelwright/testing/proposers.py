"""The contract of a proposer: inherit, say how yours is made, run pytest.

::

    class TestMine(ProposerContract):
        def make(self, context):
            return Mine(context)

A run of the search is acted out on a made-up task: every proposal is judged by a device that
knows the truth, told, and the best so far is offered as a parent.
"""

from collections.abc import Sequence

from kernelwright.candidates.tunables import space
from kernelwright.proposers.base import Context, Proposer, context_for
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob
from kernelwright.records.outcome import Outcome
from kernelwright.records.run import RunSpec
from kernelwright.records.rung import Rung
from kernelwright.records.task import Task
from kernelwright.search.rungs import plans_for
from kernelwright.search.score import score
from kernelwright.testing.simulated import SimulatedExecutor, made_up_candidates, made_up_task

ASKED = 60


class ProposerContract:
    """What the search relies on."""

    def make(self, context: Context) -> Proposer:
        """A fresh proposer of the kind under test."""
        raise NotImplementedError

    def task(self) -> Task:
        """What is computed; override for a task that the proposer knows."""
        return made_up_task()

    def context(self, seed: int = 0) -> Context:
        """The context it is made with, as in a run."""

        def log_speedup(evaluation: Evaluation) -> float | None:
            found = score(evaluation)
            return found.value if found else None

        spec = RunSpec(task="", device="cpu", seed=seed, threads=2)
        return context_for(self.task(), spec, log_speedup, self.parents())

    def parents(self) -> Sequence[Candidate]:
        """Candidates that are offered for mutation; also the start candidates."""
        return made_up_candidates(2)

    def test_proposals_repeat_themselves(self) -> None:
        """Same context, same calls: same candidates."""
        first, again = self.act(seed=1), self.act(seed=1)
        assert [one.id for one in first] == [one.id for one in again]
        assert first, "it proposed nothing at all"

    def test_nothing_is_proposed_twice(self) -> None:
        """A candidate that was proposed is never proposed again."""
        ids = [one.id for one in self.act()]
        assert len(ids) == len(set(ids))

    def test_every_point_is_valid(self) -> None:
        """Tunables are listed values that meet the constraints."""
        values = self.context().values
        for one in self.act():
            assert space(one.header, values).is_valid(one.tunables), one.tunables

    def test_mutants_name_their_parent(self) -> None:
        """The first parent is one of those that were offered."""
        offered = {one.id for one in self.parents()}
        known = set(offered)
        for one in self.act():
            assert set(one.parents[:1]) <= known, one.parents
            known.add(one.id)

    def test_failures_and_strangers_are_endured(self) -> None:
        """It is told of every candidate of a run, also of failures and of others' work."""
        proposer = self.make(self.context())
        stranger = made_up_candidates(9)[8]
        for rung in Rung:
            proposer.tell(
                stranger,
                Evaluation(candidate=stranger.id, rung=rung, outcome=Outcome.BUILD_ERROR),
            )
        proposer.ask(())
        proposer.ask(self.parents())

    def act(self, seed: int = 0) -> list[Candidate]:
        """What it proposes in the course of a made-up run."""
        proposer, device = self.make(self.context(seed)), SimulatedExecutor()
        proposed: list[Candidate] = []
        for number in range(ASKED):
            candidate = proposer.ask(self.parents())
            if candidate is None:
                break
            proposed.append(candidate)
            for rung, plan in list(plans_for("quick").items())[: 2 + number % 3]:
                job = JudgeJob(
                    number=number,
                    task=made_up_task(),
                    candidate=candidate,
                    plan=plan,
                    seed=number + rung,
                    threads=1,
                )
                proposer.tell(candidate, device.judge(job))
        return proposed
