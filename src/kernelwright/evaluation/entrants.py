"""How a built candidate gets its processes, by the kind of worker that its language needs.

A library is loaded by a process of the standard library alone; a Python file by one that was
forked from a process in which the framework is imported. Both are confined alike.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from kernelwright import sandbox
from kernelwright.evaluation import cores
from kernelwright.evaluation.bench import Bench
from kernelwright.evaluation.channel import Channel
from kernelwright.evaluation.entrant import Entrant
from kernelwright.evaluation.environment import environment
from kernelwright.evaluation.handling import Handling
from kernelwright.evaluation.interface import interface
from kernelwright.evaluation.library_worker import LibraryWorker
from kernelwright.evaluation.python_worker import PythonWorker
from kernelwright.evaluation.worker import Worker
from kernelwright.languages.base import WorkerKind
from kernelwright.records.candidate import Candidate
from kernelwright.sandbox.jailed import Jailed
from kernelwright.sandbox.zygote import Zygote
from kernelwright.tasks import contract


class Entrants:
    """Starts workers for one task.

    Args:
        bench: the trusted side.
        folder: a private folder of the verifier's.
    """

    def __init__(self, bench: Bench, folder: Path) -> None:
        self._bench = bench
        self._folder = folder
        self._entered = 0
        self._interface: dict[str, Any] | None = None
        self._noop_us = 0.0
        quiet = {"OPENBLAS_NUM_THREADS": "1"}  # numpy's would start its threads on import
        self._zygote = Zygote(environment(bench.threads, folder, folder) | quiet)

    @contextmanager
    def enter(
        self,
        candidate: Candidate,
        kind: WorkerKind,
        built: Path,
        mode: sandbox.Mode,
        label: str = "the candidate",
    ) -> Iterator[Entrant]:
        """A candidate, as long as it is judged.

        Args:
            candidate: who.
            kind: of the worker that its language needs.
            built: what its language made of it, a file.
            mode: how strictly it is confined.
            label: what it is called in reasons.

        Raises:
            PrerequisiteError: the framework that a Python candidate needs is missing.
        """
        # Beside the workers' folders: a candidate can write in its own, and must not change what
        # its next process loads.
        library = self._folder / f"library-{self._entered}" / f"candidate{built.suffix}"
        self._entered += 1
        library.parent.mkdir(mode=0o755)
        shutil.copyfile(built, library)
        library.chmod(0o555)

        folders: list[Path] = []

        def fresh(handling: Handling | None = None) -> Worker:
            folders.append(Path(tempfile.mkdtemp(dir=self._folder, prefix="worker-")))
            return self._start(kind, library, folders[-1], mode, label, handling)

        def rehearsing() -> PythonWorker:
            return cast(PythonWorker, fresh())

        def start() -> Worker:
            return fresh(Handling(rehearsing, load.get("model"), self._bench.flush))

        task = self._bench.task
        load: dict[str, Any] = {"library": str(library), "entry": task.entry}
        try:
            if kind != "library":
                model = self._model() if kind == "model" else None
                load |= {"tunables": candidate.tunables, "model": model}
                self._noop_us = self._noop_us or self._python_noop(start())
            noop_us = self._bench.noop_us if kind == "library" else self._noop_us
            yield Entrant(load, start, noop_us)
        finally:
            shutil.rmtree(library.parent, ignore_errors=True)
            for folder in folders:
                shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """End what was kept to start workers quickly."""
        self._zygote.close()

    def _start(
        self,
        kind: WorkerKind,
        library: Path,
        folder: Path,
        mode: sandbox.Mode,
        label: str,
        handling: Handling | None,
    ) -> Worker:
        """A fresh worker process in ``folder``, ready to load ``library``.

        Raises:
            PrerequisiteError: ``mode`` is ``require`` and a layer is missing.
        """
        ours, theirs = Channel.pair()
        try:
            process = self._process(kind, theirs.fileno(), folder, library, mode)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        forbid = self._bench.task.library == "forbid"
        worker: Worker
        if kind != "library":
            worker = PythonWorker(process, ours, label, forbid=forbid, handling=handling)
        else:
            worker = LibraryWorker(process, ours, label, library=str(library), forbid=forbid)
        try:
            worker.sandbox = process.confinement()
            worker.ready()
        except BaseException:
            worker.close()
            raise
        return worker

    def _process(
        self, kind: WorkerKind, channel: int, folder: Path, library: Path, mode: sandbox.Mode
    ) -> Jailed:
        limits = sandbox.Limits(memory_bytes=_half_of_memory())
        bound = kind != "library" or cores.only_openmp(library)
        env = environment(self._bench.threads, folder, folder, bound=bound)
        readable = (library.parent,)
        if kind != "library":
            # A pool of compilers would outlive the call that starts it.
            env |= {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
            return self._zygote.fork(
                channel, folder=folder, mode=mode, limits=limits, env=env, readable=readable
            )
        return sandbox.spawn(
            "run.py",
            [str(channel)],
            folder=folder,
            fds=(channel,),
            mode=mode,
            limits=limits,
            env=env,
            readable=readable,
        )

    def _model(self) -> dict[str, Any] | None:
        """How a model of the candidate's is built and called; None where the task takes none."""
        task = self._bench.task
        if task.reference.kind == "kernelbench" and self._interface is None:
            self._interface = interface(self._bench.oracle, self._bench.cases.smoke)
        return self._interface

    def _python_noop(self, worker: Worker) -> float:
        try:
            arguments = len(contract.arguments(self._bench.cases.smoke))
            return worker.noop_us(arguments) if isinstance(worker, PythonWorker) else 0.0
        finally:
            worker.close()


def _half_of_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
