"""What is said of candidates that failed: all of a run, or files that the user gave."""

from kernelwright.records.evaluation import Evaluation
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
    return text.labelled("rejected", f"{_why(look)} ({look.candidate}, at {look.rung.word})")


def refused(summary: RunSummary) -> str:
    """The user's own files that are out of the run, a line each; empty if the run has no other."""
    if summary.rejection is not None:
        return ""
    lines = [f"{one.file}: {_why(one.look)}, at {one.look.rung.word}" for one in summary.refused]
    return "\n".join(text.labelled("rejected", line) for line in lines)


def _why(look: Evaluation) -> str:
    return ": ".join(filter(None, (look.outcome.value, look.reason)))
