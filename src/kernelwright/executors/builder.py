"""What an executor of this machine compiles: candidates, and the libraries of every verifier."""

from importlib.resources import files
from pathlib import Path
from typing import Literal

from kernelwright import plugins
from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.errors import TaskError
from kernelwright.languages import cpp
from kernelwright.languages.base import BuildResult, Language
from kernelwright.records.candidate import Candidate
from kernelwright.records.job import JudgeJob
from kernelwright.records.task import Task
from kernelwright.tasks import contract

NOOP = 'extern "C" int noop(void*, void*, void*, void*, long, long) { return 0; }\n'


class Builder:
    """Compiles, and keeps what it compiled.

    Args:
        compiler: ``g++`` or ``clang++``; empty takes the first that is installed.
        sandbox: how strictly the build of a task's own loop is confined; for a candidate its job
            says so.
        cache: folder for what is kept.
    """

    def __init__(
        self, compiler: str, sandbox: Literal["auto", "require", "off"], cache: Path
    ) -> None:
        self._compiler = compiler
        self._sandbox = sandbox
        self._cache = cache

    def candidate(
        self, job: JudgeJob, candidate: Candidate, cache: Path | None = None
    ) -> BuildResult:
        """One of a job's candidates, built.

        Args:
            job: says for which task, and how it is confined.
            candidate: which.
            cache: an empty folder to build from nothing; by default what was built is kept.
        """
        language: Language = plugins.make(
            "languages", candidate.language, self._compiler, cache or self._cache
        )
        return language.build(
            candidate,
            entry=job.task.entry,
            prototype=contract.prototype(
                job.task,
                candidate.language,
                workspace=contract.wants_workspace(job.task, candidate.source),
            ),
            sandbox=job.sandbox,
        )

    def libraries(self, task: Task) -> dict[str, str]:
        """Paths of what a verifier needs: ``peaks``, ``noop``, and ``loop`` (empty if none)."""
        peaks = files("kernelwright.devices").joinpath("peaks.cpp").read_text()
        return {
            "peaks": str(self._trusted(peaks, "peaks")),
            "noop": str(self._trusted(NOOP, "noop")),
            "loop": self._loop(task),
        }

    def _trusted(self, source: str, name: str) -> Path:
        return cpp.build_trusted(source, name, self._compiler, self._cache)

    def _loop(self, task: Task) -> str:
        """The task's own plain loop, built; an empty text if it has none.

        Raises:
            TaskError: it does not compile, or does not follow the contract.
        """
        if not task.baseline:
            return ""
        built = cpp.Cpp(self._compiler, self._cache).build(
            make_candidate(task.baseline, "cpp", {}),
            entry=task.entry,
            prototype=contract.prototype(task, "cpp"),
            sandbox=self._sandbox,
        )
        if built.library is None:
            log = "\n".join(built.build.log.splitlines()[:8])
            raise TaskError(f"baseline.cpp of {task.name}: {built.reason}\n{log}", built.hint)
        return str(built.library)
