"""The client of the oracle: asks about a task, and survives whatever its reference does.

The oracle is another process. When the reference crashes, hangs or exits, that process group is
killed and the next question starts a new one. Nothing of the user's is executed here.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from kernelwright.errors import JudgeError, PrerequisiteError, TaskError
from kernelwright.evaluation.arena import Arena, Layout, plan
from kernelwright.evaluation.channel import Channel, ChannelError, ChannelTimeout
from kernelwright.records.task import Case, Shaped, Task
from kernelwright.tasks import inputs

Array = NDArray[Any]
PARTS = ("truth", "native", "serial")
START_SECONDS = 60.0
TAIL_BYTES = 16 << 10
NESTED = "KERNELWRIGHT_ORACLE"
_PASSED = ("PATH", "LD_LIBRARY_PATH", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "VIRTUAL_ENV")
_HINTS = {
    "raises": "run the reference by itself to see it fail",
    "count": "the reference must return one array for each output of the task, in order",
    "shape": "shapes must follow from the declared axes, for every seed",
    "dtype": "the reference must return arrays of the declared types",
    "nan": "let the reference's inputs avoid values at which it is undefined",
    "random": "remove dropout and random draws, or call eval() in the model's __init__",
    "deadline": "use smaller shapes, or allow the reference more time",
    "exit": "the reference must return, not exit",
    "missing": "install the package, or put the file beside the reference",
}


class ReferenceFailure(TaskError):
    """The reference fails on one case.

    Args:
        kind: ``raises``, ``count``, ``shape``, ``dtype``, ``nan``, ``random``, ``deadline``,
            ``exit`` or ``missing``.
        message: one sentence.
        details: the last lines of a traceback or of what was printed.
    """

    def __init__(self, kind: str, message: str, details: str = "") -> None:
        indented = "".join(f"\n  {line}" for line in details.splitlines()[-12:])
        super().__init__(message + indented, hint=_HINTS.get(kind, ""))
        self.kind = kind
        self.reason = message
        self.details = details


class Oracle:
    """A process that runs references; started at the first question.

    Args:
        python: the interpreter, which must have this package and whatever the reference needs.
        deadline: seconds that one question may take.
    """

    def __init__(self, python: str = sys.executable, deadline: float = 120.0) -> None:
        self.python = python
        self.deadline = deadline
        self.seconds: dict[str, float] = {}
        """How long each part of the last truth took."""
        self._task: Task | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._folder = ""
        self._printed = bytearray()
        self._reader: threading.Thread | None = None

    def start(self) -> None:
        """Start the process, if it does not run.

        Raises:
            JudgeError: it does not come up.
            TaskError: called from within a reference.
        """
        if self._process is not None and self._process.poll() is None:
            return
        self._kill()
        if os.environ.get(NESTED):
            raise TaskError(
                "a reference asked for its own judgement while it was being loaded",
                hint='put what runs on import under: if __name__ == "__main__"',
            )
        self._folder = tempfile.mkdtemp(prefix="kernelwright-oracle-")
        self._channel, theirs = Channel.pair()
        reading, writing = os.pipe()
        self._process = subprocess.Popen(
            [self.python, "-I", "-m", "kernelwright.evaluation.oracle", str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            cwd=self._folder,
            env=self._environment(),
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
        theirs.close()
        os.close(writing)
        self._printed = bytearray()
        self._reader = threading.Thread(
            target=_drain, args=(reading, self._printed), name="oracle output", daemon=True
        )
        self._reader.start()
        try:
            self._channel.receive(START_SECONDS)
        except ChannelError as problem:
            self._kill()
            raise JudgeError(
                f"the oracle did not start: {problem}\n{self.output()}".rstrip(),
                hint=f"{self.python} -c 'import kernelwright' must work",
            ) from problem

    def inspect(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run a foreign file and describe it; the ``inspector`` of :func:`load_task`.

        Args:
            request: ``format``, ``path``, ``source``, ``name``, ``entry`` and perhaps
                ``examples``.

        Raises:
            TaskError: the file does not work.
            PrerequisiteError: it needs torch, which is missing.
        """
        description: dict[str, Any] = self._ask({"do": "inspect", **request})["description"]
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
        given = [item for item in case.inputs if item.values.kind == "given"]
        if not given:
            return
        layout = plan(_dense(given))
        arena = Arena.create(layout.nbytes)
        try:
            self._about(case, arena, {"do": "generate", "seed": seed, "layout": layout.to_json()})
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
                type, sums strictly in order).

        Returns:
            Arrays by part and output name, owned by the caller: float64 for floats, the declared
            type for integers.

        Raises:
            ReferenceFailure: the reference fails on this case; its ``kind`` tells how.
        """
        layout = plan(_dense(case.inputs))
        outputs: dict[str, Layout] = {}
        end = layout.nbytes
        for part in parts:
            outputs[part] = plan(_exact(case.outputs), end)
            end = outputs[part].nbytes
        arena = Arena.create(end)
        try:
            for place in layout.tensors:
                arena.view(place)[...] = contents[place.name]
            answer = self._about(
                case,
                arena,
                {
                    "do": "truth",
                    "layout": layout.to_json(),
                    "outputs": {part: found.to_json() for part, found in outputs.items()},
                },
            )
            self.seconds = answer["seconds"]
            return {
                part: {place.name: arena.view(place).copy() for place in found.tensors}
                for part, found in outputs.items()
            }
        finally:
            arena.close()

    def output(self) -> str:
        """The last part of what the reference printed."""
        return bytes(self._printed).decode("utf-8", "replace").strip()

    def close(self) -> None:
        """Kill the process; a later question starts a new one."""
        self._kill()

    def __enter__(self) -> "Oracle":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _about(self, case: Case, arena: Arena, message: dict[str, Any]) -> dict[str, Any]:
        """Ask about the loaded task; loads it again if the process is new."""
        if self._task is None:
            raise JudgeError("no task was loaded into the oracle")
        if self._process is None or self._process.poll() is not None:
            self.load(self._task)
        known = {"case": case.model_dump(mode="json"), "nbytes": arena.nbytes}
        return self._ask(message | known, (arena.descriptor,))

    def _ask(self, message: dict[str, Any], fds: tuple[int, ...] = ()) -> dict[str, Any]:
        self.start()
        if self._channel is None:
            raise JudgeError("the oracle is closed")
        try:
            self._channel.send(message, fds)
            answer, extra = self._channel.receive(self.deadline)
        except ChannelTimeout:
            raise self._hung() from None
        except ChannelError:
            raise self._died() from None
        for descriptor in extra:
            os.close(descriptor)
        if "error" not in answer:
            return answer
        kind, text = str(answer.get("kind", "")), str(answer["error"])
        if kind == "missing_torch":
            raise PrerequisiteError(text, hint="pip install torch")
        raise ReferenceFailure(kind, text, str(answer.get("details", "")))

    def _hung(self) -> ReferenceFailure:
        """Kill the group; first let it say where it is."""
        if self._process is not None:
            self._process.send_signal(signal.SIGUSR1)
            time.sleep(0.3)
        self._kill()
        text = f"the reference did not answer within {self.deadline:g} s"
        return ReferenceFailure("deadline", text, self.output())

    def _died(self) -> Exception:
        code: int | None = None
        if self._process is not None:
            try:
                code = self._process.wait(5)
            except subprocess.TimeoutExpired:
                code = None
        self._kill()
        if code is None:
            return JudgeError(f"the oracle broke off\n{self.output()}".rstrip())
        printed = self.output()
        if code == 1 and "kernelwright/evaluation/" in printed and "Traceback" in printed:
            return JudgeError(f"the oracle broke\n{printed}")
        if code < 0:
            how = f"crashed with {_signal_name(-code)}"
        else:
            how = f"ended its process with exit code {code}"
        return ReferenceFailure("exit", f"the reference {how}", printed)

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                process.kill()
            process.wait()
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        if self._reader is not None:
            self._reader.join(2)
            self._reader = None
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _PASSED if name in os.environ}
        own = {"HOME": self._folder, "TMPDIR": self._folder, "LANG": "C.UTF-8", NESTED: "1"}
        return kept | own


def _dense(tensors: Sequence[Shaped]) -> list[Shaped]:
    return [item.model_copy(update={"strides": None}) for item in tensors]


def _exact(tensors: Sequence[Shaped]) -> list[Shaped]:
    return [
        item.model_copy(
            update={"strides": None, "dtype": "float64" if "float" in item.dtype else item.dtype}
        )
        for item in tensors
    ]


def _drain(descriptor: int, kept: bytearray) -> None:
    """Read what a process prints for as long as it prints; keep the end of it."""
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        while part := stream.read(1 << 16):
            kept += part
            if len(kept) > 2 * TAIL_BYTES:
                del kept[:-TAIL_BYTES]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
