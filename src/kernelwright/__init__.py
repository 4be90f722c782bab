"""Kernelwright writes, checks and times kernels, and keeps the one whose speedup survives doubt.

Importing this package stays instant and needs the standard library alone: workers in a fresh
process and `kernelwright --help` both pay for this file. Nothing heavier may be imported here;
the Python API is imported when one of its names is first used.
"""

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from kernelwright.api import (
        RunResult,
        audit_run,
        call,
        check_task,
        compare,
        config,
        confirm_run,
        doctor,
        evaluate,
        export_run,
        list_runs,
        list_tasks,
        open_run,
        optimize,
        replay_run,
        resume,
        ship_run,
        show_run,
        show_task,
    )
    from kernelwright.errors import (
        ControlError,
        HeaderError,
        JudgeError,
        KernelwrightError,
        PrerequisiteError,
        StoreError,
        TaskError,
        UsageError,
        UserError,
    )

_API = ("RunResult", "call", "evaluate", "open_run", "optimize", "resume")
_VERBS = (
    "audit_run", "check_task", "compare", "config", "confirm_run", "doctor", "export_run",
    "list_runs", "list_tasks", "replay_run", "ship_run", "show_run", "show_task",
)  # fmt: skip
_ERRORS = (
    "ControlError", "HeaderError", "JudgeError", "KernelwrightError", "PrerequisiteError",
    "StoreError", "TaskError", "UsageError", "UserError",
)  # fmt: skip

__all__ = [
    "ControlError",
    "HeaderError",
    "JudgeError",
    "KernelwrightError",
    "PrerequisiteError",
    "RunResult",
    "StoreError",
    "TaskError",
    "UsageError",
    "UserError",
    "__version__",
    "audit_run",
    "call",
    "check_task",
    "compare",
    "config",
    "confirm_run",
    "doctor",
    "evaluate",
    "export_run",
    "list_runs",
    "list_tasks",
    "open_run",
    "optimize",
    "replay_run",
    "resume",
    "ship_run",
    "show_run",
    "show_task",
]


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    if name in _API or name in _VERBS:
        return getattr(import_module("kernelwright.api"), name)
    if name in _ERRORS:
        return getattr(import_module("kernelwright.errors"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_API, *_VERBS, *_ERRORS})
