"""Confine this process for good, before it touches anything hostile; the standard library only.

``apply`` is called once, by a process with one thread, after its imports: later ones may fail.
It splits the process: the caller goes on as the worker, in namespaces of its own, while the
process that was started stays behind as its watcher. The watcher runs nothing of the candidate's,
ends everything when its lifeline closes or the worker ends, and passes the worker's exit on.

    started process = watcher ─┬─ keeper   process 1 of the namespace: if it dies, all in there die
                               └─ worker   returns from ``apply``

What may be called from here is in ``layers.py``. A layer that the machine does not grant is
reported, never guessed.
"""

# pathlib and typing take longer to import than all of this to run.
# ruff: noqa: PTH100, PTH120, PTH123, PTH208

from __future__ import annotations

import json
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import filters  # type: ignore[import-not-found]  # noqa: E402 - found beside this file
import layers  # type: ignore[import-not-found]  # noqa: E402
import processes  # type: ignore[import-not-found]  # noqa: E402
import visible  # type: ignore[import-not-found]  # noqa: E402

KILL, CHILD = 9, 17
LOOK = os.WEXITED | os.WNOHANG | os.WNOWAIT
NOBODY = 65534
CANNOT = 77
"""Exit code of a process that was to be confined and could not be."""


class Report:
    """What was obtained, what was not and why, and what each step cost."""

    def __init__(self) -> None:
        self.active: list[str] = []
        self.unavailable: dict[str, str] = {}
        self.ms: dict[str, float] = {}

    def attempt(self, name: str, step: Callable[..., object], *arguments: object) -> bool:
        """Take one step; whether it worked."""
        start = time.perf_counter()
        try:
            step(*arguments)
        except OSError as problem:
            self.unavailable[name] = problem.strerror or str(problem)
            return False
        self.active.append(name)
        self.ms[name] = round((time.perf_counter() - start) * 1e3, 3)
        return True

    def to_json(self) -> dict[str, Any]:
        """A form that survives JSON."""
        return {"active": self.active, "unavailable": self.unavailable, "ms": self.ms}


def apply(spec: dict[str, Any]) -> dict[str, Any]:
    """Confine this process as far as the machine allows.

    Args:
        spec: from :mod:`kernelwright.sandbox`: ``mode``, ``folder`` (the only one that stays
            writable; becomes the working folder), ``readable`` and ``writable`` (more paths),
            ``hidden`` (paths below those that are not to be seen), ``uid`` (whom root becomes, or
            None), ``limits`` (by name of the resource), the descriptors ``lifeline`` and
            ``report``, perhaps ``forked``: the process has a watcher in every mode, and perhaps
            ``threads_only``: it must not start processes.

    Returns:
        ``active`` layers, the ``unavailable`` ones with reasons, ``ms`` by layer, and the
        promises ``lacking``. In the mode ``require`` a process that lacks one ends here.

    Raises:
        RuntimeError: the process has more than one thread.
    """
    report = Report()
    os.chdir(spec["folder"])
    if spec["mode"] == "off":
        if spec.get("forked"):
            _split(spec, pids=False)
        report.attempt("limits", _limits, spec["limits"])
    else:
        _confine(spec, report)
    answer = report.to_json()
    answer["lacking"] = lacking(answer)
    os.write(spec["report"], json.dumps(answer).encode())
    os.close(spec["report"])
    os.close(spec["lifeline"])
    if spec["mode"] == "require" and answer["lacking"]:
        os._exit(CANNOT)
    return answer


def lacking(report: dict[str, Any]) -> list[str]:
    """Promises of a sandbox that the layers of a report do not keep."""
    active = set(report["active"])
    promises = {
        "processes die with the worker": {"pids"},
        "no network": {"network", "system_calls"},
        "no files of others": {"mounts", "landlock"},
        "limits": {"limits"},
        "no new privileges": {"no_new_privileges"},
        "an ordinary user": {"user"} if "user" in report["unavailable"] else active,
    }
    return [promise for promise, layers_ in promises.items() if not layers_ & active]


def _confine(spec: dict[str, Any], report: Report) -> None:
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("a process with several threads cannot be confined")
    root = os.geteuid() == 0
    report.attempt("oom_first", _oom_first)
    if not root:
        report.attempt("user_namespace", layers.user_namespace)
    report.attempt("network", layers.unshare, layers.NEWNET | layers.NEWIPC)
    alone = _counted_alone(spec["uid"] if root else None, report)
    busy = 0 if alone else processes.tasks_of(spec["uid"] if root else os.getuid())
    pids = report.attempt("pids", layers.unshare, layers.NEWPID)
    report.attempt("watcher", _split, spec, pids)

    readable, writable = spec["readable"], spec["writable"]
    folder, hidden = spec["folder"], spec["hidden"]
    mounts = report.attempt("mounts", layers.private_root, folder, readable, writable, hidden, pids)
    if root:
        if spec["uid"] is None:
            report.unavailable["user"] = "the folder cannot be given to another user"
        else:
            # Where the mounts are ours, so are the ways to these.
            needed = [] if mounts else [folder, *readable]
            report.attempt("user", layers.drop_user, spec["uid"], needed)
    report.attempt("capabilities", layers.drop_capabilities)
    report.attempt("no_new_privileges", layers.prctl, layers.NO_NEW_PRIVS, 1)
    if "watcher" in report.active:
        layers.prctl(layers.PDEATHSIG, KILL)  # a change of user would have cleared it
    if mounts:
        seen, listed, shared = ["/"], [], ["/dev/shm"]  # noqa: S108 - a private one
    else:
        seen, listed = visible.around([*layers.SYSTEM, "/proc", *readable], hidden)
        shared = []
    own = [folder, *layers.DEVICES, *shared, *writable]
    report.attempt("landlock", layers.landlock, seen, own, listed)
    report.attempt("hidden_memory", layers.prctl, layers.DUMPABLE, 0)
    alone = bool(spec.get("threads_only"))
    report.attempt("system_calls", lambda: filters.system_calls(processes=not alone))
    limits = dict(spec["limits"])
    if "NPROC" in limits:
        limits["NPROC"] += busy
    report.attempt("limits", _limits, limits)


def _counted_alone(uid: int | None, report: Report) -> bool:
    """Whether the kernel counts the processes of this jail apart from those of others."""
    if uid is not None:
        return uid != NOBODY
    major, minor = (int(part) for part in os.uname().release.split("-")[0].split(".")[:2])
    return "user_namespace" in report.active and (major, minor) >= (5, 14)


def _limits(limits: dict[str, int]) -> None:
    for name, value in {**limits, "CORE": 0}.items():
        layers.limit(name, value)


def _oom_first() -> None:
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


def _split(spec: dict[str, Any], pids: bool) -> None:
    """Return in a new process; the old one watches it and never returns."""
    sys.stdout.flush()
    sys.stderr.flush()
    keeper = os.fork() if pids else 0
    if pids and keeper == 0:
        _keep()
    worker = os.fork()
    if worker:
        _watch(worker, keeper, spec["lifeline"])
    os.setpgid(0, 0)  # else a signal to its own group would hit the watcher


def _keep() -> NoReturn:
    """Process 1 of the namespace: takes over orphans, does nothing."""
    layers.prctl(layers.PDEATHSIG, KILL)
    layers.prctl(layers.DUMPABLE, 0)
    layers.LIBC.signal(CHILD, 1)  # ignored: orphans that end vanish by themselves
    os.closerange(0, 1 << 20)
    while True:
        layers.LIBC.pause()


def _watch(worker: int, keeper: int, lifeline: int) -> NoReturn:
    """Wait for the worker or for the end of the lifeline; leave nothing behind."""
    if not keeper:
        layers.prctl(layers.SUBREAPER, 1)
    os.closerange(0, lifeline)
    os.closerange(lifeline + 1, 1 << 20)
    poll = select.poll()
    poll.register(lifeline, select.POLLIN)
    try:
        poll.register(os.pidfd_open(worker), select.POLLIN)
        poll.poll()
    except OSError:  # a kernel, or a container's, that does not know it
        while not poll.poll(20) and not os.waitid(os.P_PID, worker, LOOK):
            pass
    if keeper:
        os.kill(keeper, KILL)
    os.kill(worker, KILL)  # no effect where it has ended: it is not reaped yet
    status = os.waitpid(worker, 0)[1]
    if keeper:
        os.waitpid(keeper, 0)  # returns when the last process of the namespace is gone
    else:
        _sweep()
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        layers.LIBC.signal(number, 0)
        layers.limit("CORE", 0)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status))


def _sweep() -> None:
    """Kill what the worker left; as a subreaper we inherit every orphan."""
    while True:
        for child in processes.children():
            os.kill(child, KILL)
        try:
            os.waitpid(-1, 0)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return


if __name__ == "__main__":
    apply(json.loads(sys.argv[-1]))
