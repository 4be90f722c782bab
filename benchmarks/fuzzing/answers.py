"""What processes with foreign code in them send: frames, reports, answers."""

import json
import os
import random
import socket
from typing import Any

from benchmarks.fuzzing import making
from benchmarks.fuzzing.parser import Parser
from benchmarks.fuzzing.tasks import DESCRIPTION
from kernelwright.evaluation import report
from kernelwright.evaluation.channel import Channel, ChannelError
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.python_worker import PythonWorker
from kernelwright.evaluation.worker import Worker
from kernelwright.tasks.foreign import build

CALLS = 3
TOKEN = b"12345678"
REFUSAL = {
    "error": "no such symbol: twice",
    "kind": "missing_symbol",
    "hint": "did you mean 'thrice'?",
    "details": "dlsym",
    "number": "a1",
}
SEEN = {
    "float_mode": [8064, 895],
    "drew": True,
    "library": ["aten::mul", "aten::add"],
    "computing": ["aten::mul"],
    "description": DESCRIPTION,
    "seconds": {"truth": 0.1},
}


class Answering:
    """A channel, and the process behind it, whose other side says what was made up."""

    pid = os.getpid()

    def __init__(self, answers: list[Any], told: bytes = b"") -> None:
        self._answers, self._told = list(answers), told
        self.channel = self

    def ask(self, request: object, timeout: float, fds: object = ()) -> dict[str, Any]:
        return self.message(timeout)

    def message(self, timeout: float) -> dict[str, Any]:
        found = self._answers.pop(0) if self._answers else {}
        if not isinstance(found, dict):  # the real channel lets nothing else pass
            raise ChannelError("a message that is no JSON object")
        return found

    def report(self, size: int, timeout: float) -> bytes:
        return self._told[:size].ljust(size, b"\0")

    def raw(self, data: bytes) -> None: ...

    def kill(self) -> None: ...

    def close(self) -> None: ...

    def wait(self, timeout: float | None = None) -> int:
        return 1

    def code(self) -> int:
        return 1

    poll = code

    def runs(self) -> bool:
        return True

    def tail(self) -> str:
        return ""

    output = tail


def _frame(chance: random.Random) -> bytes:
    body = making.wire(chance, REFUSAL | SEEN)
    length = len(body) if chance.random() < 0.8 else chance.choice((0, 1, 2**31, 2**32 - 1))
    frame = length.to_bytes(4, "little") + body
    return making.binary(chance, frame) if chance.random() < 0.3 else frame


def _received(frame: bytes) -> object:
    """Send a frame, close, and receive; what does not fit into the socket's buffer is cut off."""
    ours, theirs = Channel.pair()
    try:
        theirs.setblocking(False)
        theirs.send(frame)
        theirs.shutdown(socket.SHUT_WR)
        return ours.message(5.0)
    finally:
        theirs.close()
        ours.close()


def _report(chance: random.Random) -> bytes:
    ns = b"".join(value.to_bytes(8, "little") for value in (100, 200, 150))
    return making.binary(chance, TOKEN + ns + bytes(4 * CALLS))


def _received_answer(chance: random.Random, example: Any) -> Any:
    """An answer as it comes out of a channel: it has been JSON."""
    try:
        return json.loads(json.dumps(making.value(chance, example)))
    except (ValueError, RecursionError):
        return {}


def _answers(chance: random.Random) -> tuple[list[Any], bytes]:
    examples = [SEEN | (REFUSAL if chance.random() < 0.3 else {}) for _ in range(6)]
    return [_received_answer(chance, one) for one in examples], _report(chance)


def _worked(kind: type[Worker], given: tuple[list[Any], bytes], **more: Any) -> object:
    process: Any = Answering(*given)
    worker = kind(process, process, **more)
    worker.load({}, 10.0)
    worker.watch()
    worker.arm([0, 1, 2], 10.0, worker)
    worker._token = TOKEN
    ran = worker.go(10.0)
    json.dumps(worker.labels)
    return ran, worker.left_behind()


def _asked(given: tuple[list[Any], bytes]) -> object:
    oracle, process = Oracle(), Answering(given[0])
    oracle._process = process  # type: ignore[assignment]
    return build(
        oracle.inspect({}),
        name="model",
        entry="model",
        summary="",
        reference={"entry": "f", "source": "", "path": "model.py", "fused": False},
    )


PARSERS = (
    Parser("frame of a channel", _frame, _received, (ChannelError,)),
    Parser("report of a block", _report, lambda told: report.parse(told, TOKEN, CALLS)),
    Parser(
        "refusal of a worker",
        lambda chance: _received_answer(chance, REFUSAL),
        lambda answer: report.refusal("the candidate", answer if isinstance(answer, dict) else {}),
    ),
    Parser("answers of a worker", _answers, lambda given: _worked(Worker, given)),
    Parser(
        "answers of a Python worker",
        _answers,
        lambda given: _worked(PythonWorker, given, forbid=False),
    ),
    Parser("answers of the oracle", _answers, _asked),
)
