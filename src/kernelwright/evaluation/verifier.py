"""The verifier: one trusted, long-lived process a device, which alone gives verdicts.

Started as ``python -I -m kernelwright.evaluation.verifier DESCRIPTOR FOLDER``. It owns seeds,
inputs, right answers and tolerances, starts every other process of the judge, and never imports
code of a candidate or of a user. Whatever it writes is in the folder, which its executor removes.
"""

import contextlib
import ctypes
import os
import secrets
import signal
import sys
import tempfile
import time
import traceback
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from kernelwright import errors
from kernelwright.checks.finding import Rejected
from kernelwright.checks.sensitivity import InsensitiveTask
from kernelwright.devices import measured
from kernelwright.devices.conditions import BEFORE_S, Watch
from kernelwright.devices.measured import Peaks
from kernelwright.errors import JudgeError, KernelwrightError, scarce
from kernelwright.evaluation import ceiling, cores, pipeline
from kernelwright.evaluation.aftermath import Aftermath
from kernelwright.evaluation.bench import Bench
from kernelwright.evaluation.channel import Channel, ChannelError
from kernelwright.evaluation.entrant import Entrant
from kernelwright.evaluation.entrants import Entrants
from kernelwright.evaluation.flush import Flush
from kernelwright.evaluation.leaving import leave_on_sigterm, stay
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.rivals import Rivals
from kernelwright.records.candidate import Candidate
from kernelwright.records.job import JudgeJob
from kernelwright.records.measurement import Roofline
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import Sensitivity
from kernelwright.records.task import Task

PR_SET_DUMPABLE = 4
PR_SET_PDEATHSIG = 1


class Verifier:
    """Answers the executor's messages.

    Args:
        folder: a private folder, removed by whoever started this process.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bench: Bench | None = None
        self.entrants: Entrants | None = None
        self.aftermath: Aftermath | None = None
        self.threads = 1
        self._devices = folder / "devices"

    def open(self, message: dict[str, Any]) -> dict[str, Any]:
        """Make ready to judge candidates of one task."""
        self.threads = message["threads"]
        cores.hold(self.threads)
        self._devices = Path(message["cache"]) / "devices"
        task = Task.model_validate(message["task"])
        self.close()
        self.aftermath = Aftermath()
        loop = Path(message["loop"]) if message["loop"] else None
        rivals = Rivals(task, loop, self.threads, self.folder, Path(message["cache"]))
        peaks, flush = self._peaks(Path(message["peaks"]), rivals)
        secret = secrets.randbits(62)
        self.bench = Bench(task, Oracle(), rivals, peaks, flush, self.threads, secret)
        self.bench.oracle.load(task)
        noop = Path(message["noop"])
        self.bench.noop_us = self._noop(noop)
        self.entrants = Entrants(self.bench, self.folder)
        known = message["sensitivity"] and Sensitivity.model_validate(message["sensitivity"])
        watch = Watch(BEFORE_S)
        try:
            session = self.bench.open(
                tuple(message["baselines"]), known, noop if message["controls"] else None
            )
        except InsensitiveTask as refusal:
            return {"insensitive": refusal.found.model_dump(mode="json")}
        change = {"conditions": watch.conditions()}
        return {"session": session.model_copy(update=change).model_dump(mode="json")}

    def judge(self, message: dict[str, Any]) -> dict[str, Any]:
        """Judge one built candidate at one rung."""
        if self.bench is None or self.entrants is None or self.aftermath is None:
            raise KernelwrightError("a candidate came before its task")
        job = JudgeJob.model_validate(message["job"])
        labels = self.aftermath.labels()
        with contextlib.ExitStack() as stack:
            mine = stack.enter_context(
                _entered(self.entrants, job, job.candidate, message["built"])
            )
            rival = None
            if job.rival is not None:
                entered = _entered(self.entrants, job, job.rival, message["rival"], "the rival")
                rival = stack.enter_context(entered)
            watch = _watch(job.plan.rung)
            evaluation = pipeline.judge(job, self.bench, mine, rival)
        self._doubt_exceeded(evaluation.roofline)
        change = {
            "conditions": watch.conditions() if watch else None,
            "evidence": {**evaluation.evidence, **labels},
        }
        self.aftermath.ended(evaluation.outcome)
        return {"evaluation": evaluation.model_copy(update=change).model_dump(mode="json")}

    def _doubt_exceeded(self, roof: Roofline | None) -> None:
        """Nothing exceeds a bandwidth that was measured well; a rate, better algorithms do."""
        if roof and roof.bound == "bandwidth" and roof.fraction > measured.EXCEEDED:
            measured.doubt(self.threads, self._devices)

    def _peaks(self, library: Path, rivals: Rivals) -> tuple[Peaks, Flush]:
        """What this processor can do, and what empties its caches."""
        known = measured.recent(self.threads, self._devices)
        if known and known.settled:
            return known, Flush(known.flush_bytes, self.threads)
        watch = Watch()
        found = measured.measure(library)
        flush = Flush(found.flush_bytes, self.threads)
        streams = ceiling.measure(library, lambda: rivals.start("loop", library), flush)
        found = replace(
            found,
            copy_gbps=streams["copy"],
            read_gbps=streams["read"],
            settled=measured.quiet(watch.conditions()),
        ).best(known)
        measured.keep(found, self.threads, self._devices)
        return found, flush

    def _noop(self, library: Path) -> float:
        """Microseconds that a call of a kernel which does nothing costs."""
        code = ctypes.CDLL(os.fspath(library))
        code.noop.restype = ctypes.c_int
        arguments = [ctypes.c_void_p(0)] * 4 + [ctypes.c_int64(1)] * 2
        spent = []
        for _ in range(2000):
            start = time.perf_counter_ns()
            code.noop(*arguments)
            spent.append(time.perf_counter_ns() - start)
        return sorted(spent)[len(spent) // 2] / 1e3

    def close(self) -> None:
        """End every process of this judge."""
        if self.entrants is not None:
            self.entrants.close()
        if self.bench is not None:
            self.bench.close()


def _entered(
    entrants: Entrants,
    job: JudgeJob,
    candidate: Candidate,
    built: dict[str, Any],
    label: str = "the candidate",
) -> AbstractContextManager[Entrant]:
    return entrants.enter(candidate, built["worker"], Path(built["library"]), job.sandbox, label)


def _watch(rung: Rung) -> Watch | None:
    """Watches looks whose numbers are reported; the others are many and short."""
    if rung < Rung.FULL:
        return None
    return Watch(BEFORE_S if rung is Rung.CONFIRM else 0.0)


def _known_name(problem: KernelwrightError) -> str:
    """The nearest class that the other side knows too."""
    return next(one.__name__ for one in type(problem).__mro__ if hasattr(errors, one.__name__))


def serve(channel: Channel, verifier: Verifier) -> None:
    """Answer until the other side closes."""
    while True:
        try:
            message, descriptors = channel.receive()
        except ChannelError:
            return
        for descriptor in descriptors:
            os.close(descriptor)
        try:
            answer = getattr(verifier, message["do"])(message)
        except KernelwrightError as problem:
            answer = _refusal(problem)
        except Rejected as rejection:  # of a process of ours: a candidate's has become a verdict
            answer = _refusal(JudgeError(rejection.finding.reason, "run it again"))
        except Exception as problem:  # noqa: BLE001
            # One candidate must not end the judge of all others.
            answer = _refusal(scarce(problem) or _fault(problem))
        try:
            channel.reply(message, answer)
        except ChannelError:  # whoever asked was killed meanwhile
            return


def _refusal(problem: KernelwrightError) -> dict[str, Any]:
    return {"error": _known_name(problem), "message": problem.message, "hint": problem.hint}


def _fault(problem: Exception) -> JudgeError:
    text = f"the verifier broke: {type(problem).__name__}: {problem}"
    return JudgeError(text, hint=traceback.format_exc()[-2000:])


def main() -> None:
    """Serve one executor."""
    library = ctypes.CDLL(None)
    library.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    # The stronger signal: a stopped process does not act on another.
    library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    leave_on_sigterm()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel, folder = Channel.from_fd(int(sys.argv[1])), Path(sys.argv[2])
    folder.chmod(0o755)  # workers are other users
    tempfile.tempdir = os.fspath(folder)
    verifier = Verifier(folder)
    try:
        serve(channel, verifier)
    finally:
        stay()
        with contextlib.suppress(KernelwrightError):
            verifier.close()


if __name__ == "__main__":
    main()
