"""Where a run stands, and what was said of it before, a line each."""

from kernelwright.records.evaluation import Evaluation
from kernelwright.records.outcome import Decision
from kernelwright.report import text
from kernelwright.search.score import strongest
from kernelwright.search.summary import Audit, RunSummary

STATUS = {
    "running": "running",
    "improved": "improved",
    "nothing_left_to_win": "nothing left to win",
    "no_improvement": "no improvement",
    "budget": "out of budget, nothing is confirmed",
    "interrupted": "interrupted",
}


def status(summary: RunSummary) -> str:
    """The outcome and why the run ended; undecided is no answer about the kernel."""
    said, confirm = STATUS[summary.run.status], summary.confirmed
    rows = strongest(confirm) if confirm else ()
    if summary.run.status == "no_improvement" and any(
        one.decision is Decision.UNDECIDED for one in rows
    ):
        said += " shown (undecided)"
    return ": ".join(filter(None, (said, summary.reason)))


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
