"""The contract of an executor: inherit, give a task and two candidates, run pytest.

::

    class TestMine(ExecutorContract):
        def make(self):
            return Mine()

By default the made-up task is judged, which only a simulated device can; an executor that really
builds overrides ``task``, ``good`` and ``broken``.
"""

from kernelwright.executors.base import Executor
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import JudgeJob
from kernelwright.records.outcome import Outcome
from kernelwright.records.run import Effort
from kernelwright.records.rung import Rung
from kernelwright.records.task import Task
from kernelwright.search.rungs import plans_for
from kernelwright.testing.simulated import made_up_candidates, made_up_task

PATIENCE_S = 120.0


class ExecutorContract:
    """What the search relies on."""

    effort: Effort = "quick"
    threads = 1

    def make(self) -> Executor:
        """A fresh executor, not opened."""
        raise NotImplementedError

    def task(self) -> Task:
        """What is judged."""
        return made_up_task()

    def good(self) -> Candidate:
        """A correct candidate."""
        return made_up_candidates(1)[0]

    def broken(self) -> Candidate:
        """A candidate that does not pass the smoke rung, or does not even build."""
        raise NotImplementedError

    def test_a_session_knows_its_strongest_baseline(self) -> None:
        """The strongest is one of those that were timed."""
        executor = self.make()
        try:
            session = executor.open(self.task(), None)
        finally:
            executor.close()
        timed = {baseline.name for baseline in session.baselines if baseline.time_us}
        assert session.strongest in timed

    def test_there_is_room_for_one_job_of_each_kind(self) -> None:
        """A search that may submit nothing would wait for ever."""
        executor = self.make()
        try:
            executor.open(self.task(), controls=False)
            assert all(executor.capacity(rung) >= 1 for rung in Rung)
        finally:
            executor.close()

    def test_a_good_candidate_climbs_and_every_answer_names_its_job(self) -> None:
        """Draft, smoke, screen: passed, for the right candidate, at the right rung."""
        executor = self.make()
        good = self.good()
        try:
            executor.open(self.task())
            for number, rung in enumerate((Rung.DRAFT, Rung.SMOKE, Rung.SCREEN), start=41):
                found = self.judged(executor, number, good, rung)
                assert (found.candidate, found.rung) == (good.id, rung)
                assert found.passed, found.reason
                assert bool(found.comparisons) == (rung > Rung.DRAFT)
                assert found.seconds > 0
                assert (found.device_seconds > 0) == (rung > Rung.DRAFT)
        finally:
            executor.close()

    def test_a_look_is_compared_with_the_baseline_that_is_named(self) -> None:
        """Numbers of one run must stand beside each other, whatever is the strongest by now."""
        executor = self.make()
        try:
            session = executor.open(self.task())
            named = [one.name for one in session.baselines if one.time_us]
            for number, name in enumerate(named):
                self.judged(executor, 2 * number, self.good(), Rung.DRAFT)
                job = self.job(2 * number + 1, self.good(), Rung.SMOKE)
                executor.submit(job.model_copy(update={"against": name}))
                answer = executor.wait(PATIENCE_S)
                assert answer is not None, "no answer"
                assert {one.baseline for one in answer.evaluation.comparisons} == {name}
        finally:
            executor.close()

    def test_a_confirm_opens_a_task_of_its_own(self) -> None:
        """Whoever wants only that need not open one before; a recording may not have it."""
        executor = self.make()
        good = self.good()
        try:
            found = self.judged(executor, 1, good, Rung.CONFIRM)
        finally:
            executor.close()
        assert (found.candidate, found.rung) == (good.id, Rung.CONFIRM)
        assert found.outcome in (Outcome.PASSED, Outcome.UNSUPPORTED), found.reason

    def test_equal_binaries_are_recognised(self) -> None:
        """A draft names its binary, the same one each time."""
        executor = self.make()
        try:
            executor.open(self.task())
            drafts = [self.judged(executor, n, self.good(), Rung.DRAFT) for n in (1, 2)]
        finally:
            executor.close()
        binaries = {draft.build.binary if draft.build else "" for draft in drafts}
        assert len(binaries) == 1
        assert binaries != {""}

    def test_a_broken_candidate_is_an_outcome_not_an_exception(self) -> None:
        """It fails, with a reason and without a time, and the next candidate is judged."""
        executor = self.make()
        broken = self.broken()
        try:
            executor.open(self.task())
            found = self.judged(executor, 1, broken, Rung.DRAFT)
            if found.passed:
                found = self.judged(executor, 2, broken, Rung.SMOKE)
            assert not found.passed
            assert found.reason
            assert self.judged(executor, 3, self.good(), Rung.DRAFT).passed
        finally:
            executor.close()

    def test_a_simulated_one_repeats_itself(self) -> None:
        """Driven again from the beginning, it says the same; that is what a resume relies on."""
        first = self.make()
        first.close()
        if not first.simulated:
            return
        said = []
        for executor in (self.make(), self.make()):
            try:
                executor.open(self.task())
                said.append(
                    [
                        self.judged(executor, number, self.good(), rung)
                        for number, rung in enumerate((Rung.DRAFT, Rung.SMOKE), start=1)
                    ]
                )
            finally:
                executor.close()
        assert said[0] == said[1]

    def test_waiting_for_nothing_ends(self) -> None:
        """``wait`` returns None when its time is over."""
        executor = self.make()
        try:
            executor.open(self.task())
            assert executor.wait(0.05) is None
        finally:
            executor.close()

    def test_closing_twice_is_allowed(self) -> None:
        """Also with a job in flight, also before opening."""
        executor = self.make()
        executor.close()
        executor = self.make()
        executor.open(self.task())
        executor.submit(self.job(1, self.good(), Rung.DRAFT))
        executor.close()
        executor.close()

    def job(self, number: int, candidate: Candidate, rung: Rung) -> JudgeJob:
        """A job for the executor under test."""
        return JudgeJob(
            number=number,
            task=self.task(),
            candidate=candidate,
            plan=plans_for(self.effort)[rung],
            seed=number,
            threads=self.threads,
        )

    def judged(
        self, executor: Executor, number: int, candidate: Candidate, rung: Rung
    ) -> Evaluation:
        """Submit one job and wait for its answer."""
        executor.submit(self.job(number, candidate, rung))
        answer = executor.wait(PATIENCE_S)
        assert answer is not None, "no answer"
        assert answer.number == number
        return answer.evaluation
