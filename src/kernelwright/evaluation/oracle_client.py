"""The client of the oracle: asks about a task, and survives whatever its reference does.

The oracle is another process. When the reference crashes, hangs or exits, that process group is
killed and the next question starts a new one. Nothing of the user's is executed here.
"""

import math
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from kernelwright.errors import JudgeError, KernelwrightError, PrerequisiteError
from kernelwright.evaluation.arena import Arena, Layout, plan
from kernelwright.evaluation.channel import ChannelError, ChannelMixed, ChannelTimeout
from kernelwright.evaluation.guarded import BROKE, CUT_OFF, signal_name
from kernelwright.evaluation.memory import oom_kills
from kernelwright.evaluation.oracle_process import OracleProcess, where
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.extras import how_to_add
from kernelwright.records.task import Case, Shaped, Task
from kernelwright.tasks import inputs

Array = NDArray[Any]
PARTS = ("truth", "native", "serial")


class Oracle:
    """A process that runs references; started at the first question.

    Args:
        python: the interpreter, which must have this package and whatever the reference needs.
        deadline: seconds that one question may take.
    """

    def __init__(self, python: str = sys.executable, deadline: float = 120.0) -> None:
        self.python = python
        self.deadline = deadline
        self.left = math.inf
        """Seconds that all further questions together may take, whatever one may take."""
        self.seconds: dict[str, float] = {}
        """How long each part of the last truth took."""
        self._task: Task | None = None
        self._process: OracleProcess | None = None
        self._printed = ""
        self._arena: Arena | None = None

    def start(self) -> None:
        """Start the process, if it does not run.

        Raises:
            JudgeError: it does not come up.
            TaskError: called from within a reference.
        """
        self._running()

    def inspect(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run a foreign file and describe it; the ``inspector`` of :func:`load_task`.

        Args:
            request: ``format``, ``path``, ``source``, ``name``, ``entry`` and perhaps
                ``examples``.

        Raises:
            TaskError: the file does not work.
            PrerequisiteError: it needs torch, which is missing.
        """
        description = self._ask({"do": "inspect", **request}).get("description")
        if not isinstance(description, dict):
            raise JudgeError("the oracle did not describe the file")
        return description

    def load(self, task: Task) -> None:
        """Make ``task`` the one that is asked about; loaded again after a crash.

        Raises:
            TaskError: its reference cannot be loaded.
            PrerequisiteError: it needs torch, which is missing.
        """
        self._task = None
        self._ask({"do": "load", "task": task.model_dump(mode="json")})
        self._task = task

    def generate(self, seed: int, case: Case, views: Mapping[str, Array]) -> None:
        """Fill every input of ``case`` under ``seed``.

        Args:
            seed: equal seeds, equal contents.
            case: whose inputs; those of kind ``given`` are drawn by the task's own code.
            views: the tensors by name, filled in place.

        Raises:
            TaskError: the task's code fails.
        """
        inputs.draw(case, seed, views)
        if not (given := [item for item in case.inputs if item.values.kind == "given"]):
            return
        layout = plan(_dense(given))
        arena = Arena.create(layout.nbytes)
        try:
            self.about(case, arena, {"do": "generate", "seed": seed, "layout": layout.to_json()})
            for place in layout.tensors:
                views[place.name][...] = arena.view(place)
        finally:
            arena.close()

    def truth(
        self, case: Case, contents: Mapping[str, Array], parts: Sequence[str] = PARTS
    ) -> dict[str, dict[str, Array]]:
        """What the reference makes of ``contents``.

        Args:
            case: shapes, dtypes and scalars.
            contents: the inputs by name.
            parts: any of ``truth`` (float64), ``native`` (declared types), ``serial`` (accumulate
                type, sums strictly in order), ``contracted`` (accumulate type, a product and its
                sum with something rounded once).

        Returns:
            Arrays by part and output name, owned by the caller: float64 for floats, the declared
            type for integers.

        Raises:
            ReferenceFailure: the reference fails on this case; its ``kind`` tells how.
        """
        layout, outputs = plan(_dense(case.inputs)), dict[str, Layout]()
        end = layout.nbytes
        for part in parts:
            outputs[part] = plan(_dense(case.outputs, exact=True), end)
            end = outputs[part].nbytes
        arena = self._shared(end)
        for place in layout.tensors:
            arena.view(place)[...] = contents[place.name]
        message = {
            "do": "truth",
            "layout": layout.to_json(),
            "outputs": {part: found.to_json() for part, found in outputs.items()},
        }
        self.seconds = self.about(case, arena, message)["seconds"]
        return {
            part: {place.name: arena.view(place).copy() for place in found.tensors}
            for part, found in outputs.items()
        }

    def _shared(self, nbytes: int) -> Arena:
        """Memory for one question, kept for the next: new pages cost more than the question."""
        if self._arena is None or self._arena.nbytes < nbytes:
            self._arena = Arena.create(nbytes)
        return self._arena

    def output(self) -> str:
        """The last part of what the reference printed."""
        return self._printed if self._process is None else self._process.output()

    def close(self) -> None:
        """Kill the process and free its memory; a later question starts a new one."""
        self._end()
        if self._arena is not None:
            self._arena.close()
            self._arena = None

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            self._printed = process.output()

    def __enter__(self) -> "Oracle":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _running(self) -> OracleProcess:
        if self._process is None or not self._process.runs():
            self._end()
            self._process = OracleProcess(self.python)
        return self._process

    def about(self, case: Case, arena: Arena, message: dict[str, Any]) -> dict[str, Any]:
        """Ask about the loaded task; loads it again if the process is new."""
        if self._task is None:
            raise JudgeError("no task was loaded into the oracle")
        if self._process is None or not self._process.runs():
            self.load(self._task)
        known = {"case": case.model_dump(mode="json"), "nbytes": arena.nbytes}
        return self._ask(message | known, (arena.descriptor,))

    def _ask(self, message: dict[str, Any], fds: tuple[int, ...] = ()) -> dict[str, Any]:
        process, before, began = self._running(), oom_kills(), time.monotonic()
        seconds = min(self.deadline, self.left)
        try:
            answer = process.channel.ask(message, max(seconds, 0.0), fds)
        except ChannelTimeout:
            raise self._too_slow(process, seconds, self._path(message)) from None
        except ChannelMixed as problem:
            self._end()
            raise JudgeError(f"the oracle sent {problem}") from problem
        except ChannelError:
            raise self._died(process, before) from None
        finally:
            self.left -= time.monotonic() - began
        if "error" not in answer:
            return answer
        known = ("kind", "error", "details", "hint")
        kind, text, details, hint = (str(answer.get(one, "")) for one in known)
        if kind == "missing_torch":
            raise PrerequisiteError(text, hint=how_to_add("torch"))
        if kind == "process":  # what it took away is missing for the next task too
            self._end()
        raise ReferenceFailure(kind, text, details, hint)

    def _path(self, message: Mapping[str, Any]) -> str:
        """The file whose code runs for a question, or an empty text."""
        task = message.get("task") or (self._task.model_dump() if self._task else {})
        return str(message.get("path") or task.get("reference", {}).get("path", ""))

    def _too_slow(self, process: OracleProcess, seconds: float, path: str) -> ReferenceFailure:
        process.tell_where()
        self._end()
        text = f"the reference did not return within {self.deadline:g} s"
        if seconds < self.deadline:
            text = "the reference took too long, all questions about it together"
        printed, place = where(self.output(), path)
        return ReferenceFailure("deadline", place + text, printed)

    def _died(self, process: OracleProcess, before: int) -> KernelwrightError:
        """Why it is gone; ours is only what the process itself calls so."""
        code = process.code()
        self._end()
        printed = self.output()
        if code == BROKE:
            return JudgeError(f"the oracle broke\n{printed}".rstrip())
        if code is None or code == CUT_OFF:
            text = "the reference closed the descriptors of its process"
            return ReferenceFailure("process", text, printed)
        if code == -signal.SIGKILL and oom_kills() > before:
            return ReferenceFailure("memory", "the reference used up the memory", printed)
        how = f"crashed with {signal_name(-code)}" if code < 0 else f"exited with code {code}"
        return ReferenceFailure("exit", f"the reference {how}", printed)


def _dense(tensors: Sequence[Shaped], *, exact: bool = False) -> list[Shaped]:
    """Without strides; ``exact``: floats in float64."""
    wide = {"strides": None, "dtype": "float64"} if exact else {"strides": None}
    narrow = {"strides": None}
    return [one.model_copy(update=wide if "float" in one.dtype else narrow) for one in tensors]
