"""What a run says of itself while it is at work, in words that suit a bar and a line."""

from collections.abc import Iterator

from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Session
from kernelwright.records.measurement import hardest_first
from kernelwright.records.run import Run
from kernelwright.report import summary as report
from kernelwright.report import text
from kernelwright.report.rivals import absent, to_beat


def begun(run: Run, session: Session) -> Iterator[str]:
    """Which run it is, and what there is to beat."""
    yield f"run {run.id}: to beat: {to_beat(session)}"
    yield from (f"without {one}" for one in absent(session))


def name(candidate: Candidate) -> str:
    """A candidate in a few words."""
    return report.strategy(candidate, short=True)


def refused(candidate: Candidate, look: Evaluation) -> str:
    """That a file which the user gave is out; empty if it is not, or nobody gave it."""
    if look.passed or candidate.author != "user":
        return ""
    why = ": ".join(filter(None, (look.outcome.value, look.reason)))
    return f"rejected: {candidate.origin or name(candidate)}: {why}"


def leads(candidate: Candidate, look: Evaluation) -> str:
    """Who leads a search: by its lower end, so that its ratio may be less than one before."""
    return f"leading by its lower end: {name(candidate)} {against(look)}"


def against(look: Evaluation) -> str:
    """Ratio and interval over the strongest rival; empty if there is none."""
    for one in hardest_first(look.comparisons)[:1]:
        ratio = text.ratio(one.ratio, one.low, one.high)
        return f"{ratio} against {one.baseline} on {one.workload}"
    return ""
