"""The one list of verbs. Every face is derived from it.

It holds names and summaries only: importing it loads no verb, so ``kernelwright --help`` is
instant. A verb's module has ``Request`` (typed fields with descriptions), ``Answer``, and
``run(request, *, observer=None) -> Answer``; its docstring is the verb's long help.
"""

from importlib import import_module
from types import ModuleType
from typing import NamedTuple


class Verb(NamedTuple):
    """One verb as the faces name it."""

    name: str
    """As typed on the command line, for example ``tasks list``."""
    function: str
    """Name in the Python API, for example ``list_tasks``."""
    summary: str

    @property
    def group(self) -> str:
        """The first of two words, or empty."""
        return self.name.rpartition(" ")[0]

    @property
    def word(self) -> str:
        """The last word."""
        return self.name.rpartition(" ")[2]

    @property
    def module(self) -> str:
        """Full name of the module that does it."""
        return "kernelwright.verbs." + self.name.replace(" ", "_")

    def load(self) -> ModuleType:
        """Import the module that does it."""
        return import_module(self.module)


VERBS = (
    Verb("optimize", "optimize", "search for a faster kernel of a task"),
    Verb("evaluate", "evaluate", "judge one candidate"),
    Verb("compare", "compare", "time two candidates against each other"),
    Verb("confirm", "confirm_run", "measure a stored run's best anew; that number counts"),
    Verb("audit", "audit_run", "repeat everything about a run's best from its source"),
    Verb("tasks list", "list_tasks", "built-in tasks"),
    Verb("tasks show", "show_task", "what a task asks for, and the prototype of a candidate"),
    Verb(
        "tasks check",
        "check_task",
        "run a task's reference, and see whether wrong answers would pass",
    ),
    Verb("runs list", "list_runs", "runs in the store"),
    Verb("runs show", "show_run", "what one run asked, cost and found"),
    Verb("runs resume", "resume", "go on with a run, perhaps with more budget"),
    Verb("runs replay", "replay_run", "repeat a run's decisions from the store, without a device"),
    Verb("runs export", "export_run", "every evaluation of a run as JSONL, CSV or Parquet"),
    Verb("ship", "ship_run", "put the winner where it is needed"),
    Verb("doctor", "doctor", "what this machine can do, and how to mend what is missing"),
    Verb("config", "config", "every setting and where its value came from"),
)

GROUPS = {"tasks": "what there is to compute", "runs": "what is stored"}


def find(name: str) -> Verb:
    """The verb of that name.

    Raises:
        KeyError: there is no such verb.
    """
    for verb in VERBS:
        if name in (verb.name, verb.function):
            return verb
    raise KeyError(name)
