"""What is said of a run in which no candidate passed a timed look."""

from kernelwright.report import text
from kernelwright.search.summary import RunSummary


def look_closer(summary: RunSummary) -> str:
    """The command that shows why candidates failed, where none passed; empty if there is none."""
    ended = summary.run.status in ("no_improvement", "budget")
    if summary.rejection is None or not ended:
        return ""
    return summary.rejection.again(summary.task.name)


def rejected(summary: RunSummary) -> str:
    """Why candidates failed, by the commonest example, where none passed a timed look."""
    if summary.rejection is None:
        return ""
    look = summary.rejection.look
    why = ": ".join(filter(None, (look.outcome.value, look.reason)))
    return text.labelled("rejected", f"{why} ({look.candidate}, at {look.rung.word})")
