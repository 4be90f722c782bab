"""The errors a caller can meet, and what each means for the exit code.

::

    KernelwrightError              exit 1: a fault of ours
    ├── JudgeError                 the judging machinery broke (a verifier died)
    └── UserError                  exit 2: the user must change or install something
        ├── UsageError             an argument or a combination of arguments is wrong
        ├── PrerequisiteError      something is missing on this machine
        ├── ControlError           this machine fails a control of the judge now: no verdict
        ├── TaskError              a task cannot be read, or its reference does not work
        ├── HeaderError            a candidate's header cannot be read
        └── StoreError             the store cannot be opened, read or written

A candidate's failure is never an exception: it is an outcome of an evaluation.
"""

import errno
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class KernelwrightError(Exception):
    """Base of every error raised on purpose.

    Args:
        message: what is wrong, one sentence without a final period.
        hint: what to do about it, or an empty string.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class JudgeError(KernelwrightError):
    """The judging machinery broke; no verdict was given."""


class UserError(KernelwrightError):
    """The user must change something; shown without a traceback."""

    exit_code = 2


class UsageError(UserError):
    """An argument, or a combination of arguments, is wrong."""


class PrerequisiteError(UserError):
    """Something that must be installed or allowed is missing."""


class ControlError(UserError):
    """A control of a session failed twice, so that no verdict of it could be believed."""


class TaskError(UserError):
    """A task cannot be read, or its reference does not work."""


class HeaderError(UserError):
    """A candidate's header cannot be read."""


class StoreError(UserError):
    """The store cannot be opened, read or written."""


_COMMAND = re.compile(r"(?<![\w./-])kernelwright ([a-z][^';,\n]*)")


@contextmanager
def python_words(call: Callable[[str], str] = lambda command: "") -> Iterator[None]:
    """Hints of what is raised inside name options and commands as Python has them, too.

    Python shows no hint of an error that nobody catches: it stands in a note.
    """
    try:
        yield
    except UserError as problem:
        problem.hint = in_python(problem.hint, call)
        if problem.hint and not getattr(problem, "__notes__", None):
            for line in problem.hint.splitlines():
                problem.add_note(f"hint: {line}")
        raise


def in_python(hint: str, call: Callable[[str], str] = lambda command: "") -> str:
    """A hint with a line that says what its options and commands are in Python.

    Args:
        hint: what to do.
        call: the function that a command line after ``kernelwright`` stands for, or empty.
    """
    if "in Python: " in hint:
        return hint
    calls = filter(None, map(call, _COMMAND.findall(hint)))
    given = dict.fromkeys((*calls, *arguments_of(_COMMAND.sub("", hint))))
    return f"{hint}\nin Python: {', '.join(given)}" if given else hint


def arguments_of(words: str) -> list[str]:
    """The arguments that the options of a command line are in Python."""
    names = dict.fromkeys(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", words))
    return [f"{'as_' if name == 'as' else name.replace('-', '_')}=..." for name in names]


_SPACE = "free some space, or point TMPDIR, KERNELWRIGHT_CACHE or --store to another disk"
_SCARCE = {
    errno.ENOSPC: ("no space is left on the disk", _SPACE),
    errno.EDQUOT: ("the disk quota is used up", _SPACE),
    errno.EROFS: ("the file system is read-only", _SPACE),
    errno.ENOMEM: ("the memory is used up", "free some memory, or use smaller workloads"),
    errno.EMFILE: ("too many files are open", "ulimit -n allows more"),
    errno.ENFILE: ("too many files are open on this machine", "close some programs"),
}


def scarce(problem: BaseException) -> PrerequisiteError | None:
    """What an error of the system says the machine lacks; None if it says something else."""
    code = errno.ENOMEM if isinstance(problem, MemoryError) else getattr(problem, "errno", None)
    if not isinstance(problem, OSError | MemoryError) or code not in _SCARCE:
        return None
    message, hint = _SCARCE[code]
    place = getattr(problem, "filename", None)
    return PrerequisiteError(f"{message}: {place}" if place else message, hint)
