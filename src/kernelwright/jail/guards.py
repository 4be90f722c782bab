"""What a candidate must leave alone: functions the judge uses, modules, settings, threads.

Everything is captured before the candidate is loaded and compared after it was loaded and after
each block of calls, outside the timed window. What is found here is an accident or a plain cheat:
whoever rewrites the interpreter's memory can lie to it, which is why values and times are judged
in another process.
"""

from __future__ import annotations

import _thread
import builtins
import ctypes
import gc
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from refusal import Refusal  # type: ignore[import-not-found]

FRAMES, LIST, MODULES = sys._current_frames, os.listdir, sys.modules
STOP_COLLECTING, COLLECT, KEEP = gc.disable, gc.collect, gc.freeze
TRACER, PROFILER, STARTED = sys.gettrace, sys.getprofile, _thread._count
HOOKED = ("sys.addaudithook", "sys.monitoring.register_callback")
"""Ways to be called by the interpreter itself, of which nobody could be rid again."""
CLOCK, SLEEP = time.monotonic, time.sleep
LEAVING_S, LEAVING_CPU_NS = 1.0, 1_000_000
"""For how long a thread may be on its way out, and what it may compute meanwhile."""
FUNCTION_MODES = torch._C._len_torch_function_stack
DISPATCH_MODES = torch._C._len_torch_dispatch_stack
_OWNERS: tuple[Any, ...] = (
    torch, torch._C, torch.Tensor, torch.nn.functional, builtins, time, ctypes, threading, signal,
    gc, os, sys, np, np.ndarray,
)  # fmt: skip
"""Not ``torch.nn.Module``: the framework's compiler changes it when it is first used."""
ABSENT = object()
_LIBM = ctypes.CDLL("libm.so.6")
_ENVIRONMENT = (ctypes.c_uint8 * 256)()
_WAITS = ("S", "T", "t", "I")
_MASKS = ("SigBlk", "SigIgn", "SigCgt", "Umask")
_OF_THE_C_LIBRARY = 0b11 << 31
"""Signals 32 and 33, which it uses once there are threads."""


class Guards:
    """One look back at how things were before the candidate."""

    def __init__(self) -> None:
        self._functions = [(owner, _functions(owner)) for owner in _OWNERS]
        self._modules = dict(MODULES)
        self._settings = settings()
        self._environ = dict(os.environ)
        self._random = random_state()
        self._tasks = tasks()
        self._processes = processes()
        self._hooks: list[str] = []
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Refuse hooks, silently: whoever raises here keeps a hook from being added."""
        if event in HOOKED and arguments[-1:] != (None,):
            self._hooks.append(event)
            raise RuntimeError(event)

    def warm(self) -> None:
        """Threads that run now are the framework's and the candidate's pools."""
        self._tasks = tasks()

    def check(self, when: str) -> None:
        """Look at everything but threads; what was added to the environment is the candidate's.

        Raises:
            Refusal: something is not as it was.
        """
        if self._hooks:
            raise Refusal("tampering", f"{self._hooks[0]} was called {when}")
        # Settings first: some of them replace functions.
        now_set = settings()
        for name, value in self._settings.items():
            if now_set[name] != value:
                text = f"{name} was changed {when}: {value} to {now_set[name]}"
                raise Refusal("state_mutated", text, "set it inside the call and set it back")
        for owner, known in self._functions:
            now = vars(owner)
            for name, function in known.items():
                if now.get(name, ABSENT) is not function:
                    raise Refusal("tampering", f"{owner.__name__}.{name} was replaced {when}")
        for name, module in self._modules.items():
            if MODULES.get(name) is not module:
                raise Refusal("tampering", f"the module {name} was replaced {when}")
        for name, value in self._environ.items():
            if os.environ.get(name) != value:
                raise Refusal("state_mutated", f"{name} in the environment was changed {when}")

    def finished(self) -> None:
        """Look for threads that were not there after the warm calls, and for other processes.

        Raises:
            Refusal: the calls left some running.
        """
        others = processes() - self._processes
        if others and len(self._processes) <= 2:  # else we see those of the whole machine
            text = f"{len(others)} processes still ran after a call"
            raise Refusal("deferred_work", text, "wait for what you start")
        fresh = [one for one in tasks() - self._tasks if not ends(one)]
        if fresh:
            text = f"{len(fresh)} threads more than after the warm call still ran after a call"
            raise Refusal("deferred_work", text, "join threads before returning")

    def drew(self) -> bool:
        """Whether random numbers were drawn since the last look."""
        before, self._random = self._random, random_state()
        return before != self._random


def quiet() -> None:
    """Let nothing of the candidate's run unasked from here on, before its clock is read.

    What it has left for the collector stays there: a destructor that runs once the clock was read
    works in time that nobody counts. Each line is one call of a function of C, and what one of
    them lets in is still timed.

    Raises:
        Refusal: a function for tracing is set, or a Python thread is alive.
    """
    STOP_COLLECTING()
    if TRACER() is not None or PROFILER() is not None:
        text = "a function for tracing or profiling was still set when the call returned"
        raise Refusal("state_mutated", text, "set it back inside the call")
    if STARTED():
        text = "a Python thread was still alive when the call returned"
        raise Refusal("deferred_work", text, "join threads, and shut pools down, before returning")


def sweep(*, keep: bool = False) -> None:
    """Collect garbage, when there is nothing that its destructors could work on.

    Args:
        keep: what is alive now will stay, and need not be looked at again.
    """
    COLLECT()
    if keep:
        KEEP()


def over() -> None:
    """Look, as soon as a call has returned, for what could go on with its work untimed.

    Raises:
        Refusal: a Python thread is alive, or a mode of the framework is active.
    """
    if len(FRAMES()) > 1:
        text = "a Python thread was still alive when the call returned"
        raise Refusal("deferred_work", text, "join threads, and shut pools down, before returning")
    if FUNCTION_MODES() or DISPATCH_MODES():
        raise Refusal("state_mutated", "a mode of torch was still active when the call returned")


def processes() -> frozenset[str]:
    """Processes that can be seen: in a namespace of our own, those of this jail."""
    return frozenset(filter(str.isdigit, LIST("/proc")))


def tasks() -> frozenset[str]:
    """Threads of this process, by the kernel's numbers."""
    return frozenset(LIST("/proc/self/task"))


def ends(task: str) -> bool:
    """Whether a thread is on its way out, and waits until it is gone.

    Joining one of Python's waits for its last line, not for the system's thread, which still needs
    a moment of a processor that may be busy. One that sleeps or computes is not on its way out.
    """
    used, until = _spent(task), CLOCK() + LEAVING_S
    while task in tasks():
        if _state(task) in _WAITS or _spent(task) - used > LEAVING_CPU_NS or CLOCK() > until:
            return task not in tasks()
        SLEEP(0.001)
    return True


def settings() -> dict[str, Any]:
    """Global settings by name."""
    found = {}
    for name, read in _SETTINGS.items():
        try:
            found[name] = read()
        except (RuntimeError, AttributeError) as problem:  # this version, or mixed settings
            found[name] = f"{type(problem).__name__}"
    return found


def random_state() -> tuple[Any, ...]:
    """Where the generators of Python, numpy and the framework are."""
    return (
        hash(random.getstate()),
        np.random.get_state()[1].tobytes(),  # type: ignore[index]
        torch.get_rng_state().numpy().tobytes(),
    )


def _functions(owner: Any) -> dict[str, Any]:
    """What may not change: a module's functions; of a class also what it inherits."""
    if isinstance(owner, type):
        return {name: vars(owner).get(name, ABSENT) for name in dir(owner)}
    return {name: value for name, value in vars(owner).items() if callable(value)}


def _arithmetic() -> tuple[int, ...]:
    """Rounding, flushing of denormals, exceptions that trap: the control bits of this thread."""
    _LIBM.fegetenv(_ENVIRONMENT)
    words = memoryview(_ENVIRONMENT).cast("B").cast("I")
    if os.uname().machine == "x86_64":
        return words[0] & 0xFFFF, words[7] & 0xFFC0  # control word, MXCSR without its flags
    return (words[0],)


def _status() -> tuple[int, ...]:
    with open("/proc/self/status", encoding="ascii", errors="replace") as file:  # noqa: PTH123
        lines = [line.split() for line in file if line.startswith(_MASKS)]
    return tuple(int(value, 16) & ~_OF_THE_C_LIBRARY for _, value in lines)


def _precision_of_onednn() -> str:
    """Asking for full precision writes "ieee" where at first nothing was asked for."""
    asked: str = torch.backends.mkldnn.matmul.fp32_precision
    return "ieee" if asked == "none" else asked


def _state(task: str) -> str:
    """How the kernel calls what a thread does; X once it is gone."""
    return _told(task, "stat").rpartition(")")[2].strip()[:1] or "X"


def _spent(task: str) -> int:
    """Nanoseconds that a thread has computed; where the kernel keeps no count, those that pass."""
    told = _told(task, "schedstat")
    return int(told.split()[0]) if told else time.monotonic_ns()


def _told(task: str, file: str) -> str:
    try:
        with open(f"/proc/self/task/{task}/{file}", encoding="ascii", errors="replace") as told:  # noqa: PTH123
            return told.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _handlers() -> tuple[Any, ...]:
    return tuple(signal.getsignal(number) for number in signal.valid_signals())


_SETTINGS: dict[str, Callable[[], Any]] = {
    "the default dtype": torch.get_default_dtype,
    "the default device": torch.get_default_device,
    "the gradient mode": torch.is_grad_enabled,
    "the inference mode": torch.is_inference_mode_enabled,
    "autocast": lambda: torch.is_autocast_enabled("cpu"),
    "anomaly detection": torch.is_anomaly_enabled,
    "deterministic algorithms": torch.get_deterministic_debug_mode,
    "filling of fresh memory": lambda: torch.utils.deterministic.fill_uninitialized_memory,
    "the precision of float32 products": torch.get_float32_matmul_precision,
    "the precision of oneDNN": _precision_of_onednn,
    "use of oneDNN": torch._C._get_mkldnn_enabled,
    "the number of threads": torch.get_num_threads,
    "the number of inter-op threads": torch.get_num_interop_threads,
    "function modes": FUNCTION_MODES,
    "dispatch modes": DISPATCH_MODES,
    "the seed": torch.initial_seed,
    "floating-point control": _arithmetic,
    "signal masks, handlers or umask": _status,
    "signal handlers": _handlers,
    "timers": lambda: signal.getitimer(signal.ITIMER_REAL)[1],
    "the working folder": os.getcwd,
    "tracing": lambda: (sys.gettrace(), sys.getprofile()),
    "callbacks of the collector": lambda: tuple(gc.callbacks),
    "the switch interval": sys.getswitchinterval,
}
