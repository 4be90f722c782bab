"""The contract of a task format: inherit, say how yours is made and write two tasks, run pytest.

::

    class TestMine(FormatContract):
        def make(self):
            return Mine()

        def write(self, folder):
            (folder / "task.mine").write_text("...")
            return Spec(str(folder / "task.mine"))

        def damaged(self, folder):
            (folder / "task.mine").write_text("...")
            return Spec(str(folder / "task.mine"))

The last line of every Python file that ``write`` leaves is made a trap: a format that executes
what it reads fails.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from kernelwright.errors import TaskError, UserError
from kernelwright.records.task import Task
from kernelwright.tasks import contract
from kernelwright.tasks.format import Format, Spec

TRAP = "\nraise AssertionError('a format executed the file')\n"


class FormatContract:
    """What every verb that takes a task relies on."""

    def make(self) -> Format:
        """The format under test."""
        raise NotImplementedError

    def write(self, folder: Path) -> Spec:
        """Write a task into an empty folder, and name it."""
        raise NotImplementedError

    def damaged(self, folder: Path) -> Spec:
        """Write something that is almost such a task into an empty folder, and name it."""
        raise NotImplementedError

    def inspect(self, request: dict[str, Any]) -> dict[str, Any]:
        """What running the file would tell; override where the format asks for it."""
        raise AssertionError(f"nothing needs to be executed for this task: {request}")

    def test_it_recognises_its_own_without_executing_it(self, tmp_path: Path) -> None:
        """Names and syntax say what it is."""
        assert self.make().matches(self.trapped(tmp_path))

    def test_it_leaves_other_things_alone(self, tmp_path: Path) -> None:
        """What is none of its tasks is not its, or is a :class:`TaskError` that says why."""
        for spec in self.strangers(tmp_path):
            with suppress(TaskError):
                assert not self.make().matches(spec), spec.text

    def test_what_it_reads_is_a_task_that_can_be_judged(self, tmp_path: Path) -> None:
        """Every workload resolves, and a kernel has a prototype with the task's entry."""
        task = self.read(self.trapped(tmp_path))
        assert task.name
        for workload in task.workloads:
            assert contract.resolve(task, workload.name).outputs
        assert f"{task.entry}(" in contract.prototype(task, "cpp")

    def test_a_task_survives_its_journey_through_the_store(self, tmp_path: Path) -> None:
        """It is equal to what its JSON says, and to itself when it is read again."""
        spec = self.trapped(tmp_path)
        task = self.read(spec)
        assert Task.model_validate_json(task.to_json()) == task
        assert self.read(spec) == task

    def test_the_reference_is_kept_as_it_was_written(self, tmp_path: Path) -> None:
        """The text travels with the task, so that an old run can be audited."""
        reference = self.read(self.trapped(tmp_path)).reference
        assert Path(reference.path).read_text(encoding="utf-8") == reference.source
        assert reference.entry in reference.source

    def test_what_is_damaged_is_the_users_to_mend(self, tmp_path: Path) -> None:
        """It is a :class:`UserError` with a message, in whichever step it is noticed."""
        spec, error = self.damaged(tmp_path), None
        try:
            if self.make().matches(spec):
                self.read(spec)
        except UserError as problem:
            error = problem
        assert error is not None, "nobody noticed"
        assert error.message

    def test_a_reference_that_fails_is_told_as_it_is(self, tmp_path: Path) -> None:
        """What the inspector raises reaches the caller; a format that never asks has no such."""
        asked: list[dict[str, Any]] = []

        def failing(request: dict[str, Any]) -> dict[str, Any]:
            asked.append(request)
            raise TaskError("the reference raised: no")

        said = ""
        try:
            self.make().read(self.trapped(tmp_path), failing, None)
        except TaskError as problem:
            said = problem.message
        assert bool(asked) == ("the reference raised: no" in said)

    def read(self, spec: Spec) -> Task:
        """The task of a specification."""
        task = self.make().read(spec, self.inspect, None)
        assert isinstance(task, Task)
        return task

    def trapped(self, folder: Path) -> Spec:
        """The kit's task, whose Python files raise when they are executed."""
        own = folder / "task"
        own.mkdir()
        spec = self.write(own)
        for path in own.rglob("*.py"):
            path.write_text(path.read_text(encoding="utf-8") + TRAP, encoding="utf-8")
        return spec

    def strangers(self, folder: Path) -> Iterator[Spec]:
        """Specifications of nothing, of an empty folder, and of files that are no tasks."""
        yield Spec("no_such_task")
        yield Spec(str(folder / "missing.py"))
        (folder / "empty").mkdir()
        yield Spec(str(folder / "empty"))
        texts = {"notes.txt": b"softmax\n", "plain.py": b"x = 1\n", "binary.py": b"\xff\0\n"}
        for name, content in texts.items():
            (folder / name).write_bytes(content)
            yield Spec(str(folder / name))
