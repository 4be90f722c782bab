"""The contract of an exporter: inherit, say how yours is made, run pytest.

::

    class TestMine(ExporterContract):
        def make(self):
            return export

The winner comes from a search on the made-up task and device; an exporter that wants another
task, or candidates in another language, overrides ``task`` and ``start``. Whether what is
exported really computes the winner's results is for a test of your own: it needs the framework
that the export is for.
"""

from collections.abc import Callable, Sequence
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

from kernelwright.errors import UsageError
from kernelwright.records.candidate import Candidate
from kernelwright.records.run import RunSpec, Status
from kernelwright.records.task import Task
from kernelwright.search.loop import start_run
from kernelwright.search.summary import RunSummary
from kernelwright.store.store import Store
from kernelwright.testing.simulated import (
    SimulatedExecutor,
    Truth,
    made_up_candidates,
    made_up_task,
)

Export = Callable[[RunSummary], dict[str, str]]


class ExporterContract:
    """What ``kernelwright ship`` relies on."""

    def make(self) -> Export:
        """The exporter under test."""
        raise NotImplementedError

    def task(self) -> Task:
        """What was searched for."""
        return made_up_task()

    def start(self) -> Sequence[Candidate]:
        """The candidates of the search; one of them wins."""
        return made_up_candidates(2)

    def test_it_gives_files_by_their_plain_names(self) -> None:
        """Names without folders, each with a text."""
        files = self.make()(self.summary())
        assert files
        for name, text in files.items():
            assert Path(name).name == name
            assert Path(name).suffix
            assert text.strip()

    def test_the_evidence_travels_with_it(self) -> None:
        """Run, candidate and the rival that was beaten can be read in what is shipped."""
        summary = self.summary()
        text = "\n".join(self.make()(summary).values())
        assert summary.best is not None
        assert summary.confirmed is not None
        assert summary.run.id in text
        assert summary.best.id in text
        assert all(one.baseline in text for one in summary.confirmed.comparisons)

    def test_the_same_winner_gives_the_same_files(self) -> None:
        """No clock and no chance gets into them."""
        summary = self.summary()
        assert self.make()(summary) == self.make()(summary)

    def test_without_a_winner_there_is_nothing_to_export(self) -> None:
        """It says so, and what to do."""
        won = self.summary()
        statuses: tuple[Status, ...] = ("no_improvement", "budget", "interrupted", "running")
        for status in statuses:
            run = won.run.model_copy(update={"status": status})
            assert self.refusal(replace(won, run=run)).hint, status
        self.refusal(replace(won, best=None, confirmed=None))

    def test_a_language_it_cannot_export_is_refused(self) -> None:
        """Not exported as if it were another one."""
        won = self.summary()
        assert won.best is not None
        foreign = won.best.model_copy(update={"language": "unheard-of"})
        self.refusal(replace(won, best=foreign))

    def test_it_writes_nothing_itself(self, tmp_path: Path) -> None:
        """Where files go, and whether they may replace others, is decided by the caller."""
        with chdir(tmp_path):
            self.make()(self.summary())
        assert list(tmp_path.iterdir()) == []

    def summary(self) -> RunSummary:
        """A run with a confirmed winner."""
        device, store = SimulatedExecutor(lambda _: Truth(speedup=2.0)), Store.open("sqlite://")
        spec = RunSpec(task="", device="cpu", proposers=(), effort="quick", threads=1)
        try:
            return start_run(
                store, device, self.task(), spec, start=self.start(), clock=device.clock
            )
        finally:
            store.close()

    def refusal(self, summary: RunSummary) -> UsageError:
        """The error that the exporter must raise for a summary."""
        try:
            files = self.make()(summary)
        except UsageError as problem:
            return problem
        raise AssertionError(f"it exported {sorted(files)}")
