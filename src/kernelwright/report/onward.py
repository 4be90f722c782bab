"""What to type after a run, and what speaks against its number."""

import itertools
from pathlib import Path

from kernelwright import plugins
from kernelwright.candidates.notation import notation
from kernelwright.devices.disturbance import disturbance
from kernelwright.report.labels import unclaimed
from kernelwright.search.summary import RunSummary


def paste(summary: RunSummary) -> list[str]:
    """What to type next."""
    if summary.best and summary.run.status in ("improved", "nothing_left_to_win"):
        # A stored run may be older than the removal of its language.
        if summary.best.language not in plugins.names("languages"):
            return []
        ending = notation(summary.best.language).endings[0]
        form, name = "file", summary.task.name + ending
        if summary.task.reference.kind == "kernelbench":
            form, name = "kernelbench", f"{summary.task.name}_new.py"
        return [f"kernelwright ship {summary.run.id} --as {form} --to {_free(name)}"]
    return list(filter(None, [summary.way_on()]))


def _free(name: str) -> str:
    """A name like this that no file here has: it may be the one that the user began with."""
    stem, _, ending = name.rpartition(".")
    names = itertools.chain([name], (f"{stem}.best{n or ''}.{ending}" for n in itertools.count()))
    return next(one for one in names if not Path(one).exists())


def doubts(summary: RunSummary) -> list[str]:
    """What speaks against the confirmed number, and what to do."""
    if summary.confirmed is None:
        return _lacked(summary)
    found = disturbance(summary.confirmed.conditions)
    again = f"kernelwright confirm {summary.run.id} measures it again"
    busy = f"{found} while the best was confirmed: {again}" if found else ""
    return list(filter(None, (unclaimed(summary.confirmed), busy)))


def _lacked(summary: RunSummary) -> list[str]:
    """Why a budget was not enough, where others used the machine."""
    if summary.run.status != "budget" or summary.session is None:
        return []
    busy = disturbance(summary.session.conditions)
    return [f"{busy} while the baselines were timed: looks take longer then"] if busy else []
