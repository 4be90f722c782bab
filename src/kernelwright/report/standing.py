"""Where a run stands, and what was said of it before, a line each."""

from kernelwright.devices.disturbance import disturbance
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.outcome import Decision
from kernelwright.report import text
from kernelwright.search.score import strongest, undecided
from kernelwright.search.summary import Audit, RunSummary

STATUS = {
    "running": "running",
    "improved": "improved",
    "nothing_left_to_win": "nothing left to win",
    "no_improvement": "no improvement",
    "budget": "out of budget, nothing is confirmed",
    "interrupted": "interrupted",
}
WIDE = "the intervals of its confirm reach across the margin"


def status(summary: RunSummary) -> str:
    """The outcome and why the run ended; undecided is no answer about the kernel.

    Where every row is undecided, why it is counts, not why the search was over.
    """
    said, confirm = STATUS[summary.run.status], summary.confirmed
    if summary.run.status != "no_improvement" or confirm is None:
        return ": ".join(filter(None, (said, summary.reason)))
    if undecided(confirm):
        said += " shown (undecided)"
    return ": ".join(filter(None, (said, _doubt(confirm) or summary.reason)))


def _doubt(confirm: Evaluation) -> str:
    """Why a confirm decides nothing at all; empty where it decides something."""
    rows = confirm.comparisons
    if not rows or any(one.decision is not Decision.UNDECIDED for one in rows):
        return ""
    busy = disturbance(confirm.conditions)
    return f"{busy} while it was confirmed" if busy else WIDE


def earlier(confirm: Evaluation) -> str:
    """A confirm that no longer counts, on one line."""
    rivals = strongest(confirm)
    if not confirm.passed or not rivals:
        return text.labelled("earlier", f"{confirm.outcome.value} {confirm.reason}".strip())
    one = rivals[0]
    found = f"{text.ratio(one.ratio, one.low, one.high)} against {one.baseline} on {one.workload}"
    return text.labelled("earlier", f"confirmed {found}: {one.decision.value.upper()}")


def audited(audit: Audit) -> str:
    """An audit, on as many lines as it takes."""
    day, clock = audit.at[:10], audit.at[11:16]
    words = "; ".join((f"{day} {clock}: {audit.verdict.upper()}", *audit.differences))
    return text.labelled("audited", words)
