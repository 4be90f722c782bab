"""What confined a candidate: how many layers, and which are lacking; the names are in the JSON."""

from collections.abc import Iterator

from kernelwright.records.evaluation import Evaluation, Sandbox
from kernelwright.records.rung import Rung
from kernelwright.report import text


def unbuilt(evaluation: Evaluation) -> bool:
    """Whether it ended with the build, so that nothing was run, confined or compared."""
    return evaluation.rung is Rung.DRAFT and not evaluation.passed


def isolation(found: Sandbox) -> Iterator[str]:
    """A line that counts, and one for each layer that is lacking; none where nothing is known."""
    active, lacking = len(found.active), len(found.unavailable)
    if not active and not lacking:
        return
    if not lacking:
        said = f"all {text.count(active, 'layer')} (names with --json)"
    else:
        said = f"{active} of {text.count(active + lacking, 'layer')}" if active else "none"
    yield text.labelled("isolation", said)
    yield from (text.labelled("lacking", layer) for layer in found.unavailable)
