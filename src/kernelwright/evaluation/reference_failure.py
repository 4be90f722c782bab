"""Every way in which a user's reference can fail, as a kind, a sentence and what to do."""

from kernelwright.errors import TaskError

UNDEFINED = frozenset({"raises", "count", "shape", "dtype", "nan", "writes"})
"""Kinds that come again whenever the same is asked: the reference has no answer there."""

_HINTS = {
    "raises": "run the reference by itself to see it fail",
    "count": "the reference must return one array for each output of the task, in order",
    "shape": "shapes must follow from the declared axes, for every seed",
    "dtype": "the reference must return arrays of the declared types",
    "nan": "let the reference's inputs avoid values at which it is undefined",
    "random": "remove dropout and random draws, or call eval() in the model's __init__",
    "writes": "let it work on a copy: x.copy() in numpy, x.clone() in torch, or x + b in place of "
    "x += b",
    "deadline": "use smaller shapes, or make the reference faster",
    "exit": "the reference must return, not exit",
    "memory": "use smaller shapes, or free some memory",
    "process": "the reference must leave the descriptors and limits of its process alone",
    "inputs": "let get_inputs() return a list of the function's arguments: arrays and numbers",
    "package": "write a function that calls it in a file of your own, and name that",
    "missing": "install the package, or put the file beside the reference",
}


class ReferenceFailure(TaskError):
    """The reference fails on one case.

    Args:
        kind: ``raises``, ``count``, ``shape``, ``dtype``, ``nan``, ``random``, ``writes``,
            ``deadline``, ``exit``, ``memory``, ``process``, ``inputs``, ``entry``, ``package`` or
            ``missing``.
        message: one sentence.
        details: the last lines of a traceback or of what was printed.
        hint: what to do, where the kind alone does not tell.
    """

    def __init__(self, kind: str, message: str, details: str = "", hint: str = "") -> None:
        indented = "".join(f"\n  {line}" for line in details.splitlines()[-12:])
        super().__init__(message + indented, hint=hint or _HINTS.get(kind, ""))
        self.kind = kind
        self.reason = message
        self.details = details

    @property
    def undefined(self) -> bool:
        """Whether the reference has no answer to what was asked, now and later.

        Any other failure may be of the machine or of the moment, and says nothing of the question:
        time or memory ran out, its process ended.
        """
        return self.kind in UNDEFINED
