"""What is said beside a number."""

import math

from kernelwright.records.evaluation import QUARANTINED, Evaluation
from kernelwright.records.outcome import Decision
from kernelwright.search.score import is_improvement, score, strongest

NAMED = 6
"""Operators of a framework that are named; the rest are counted."""


def largest_error(evaluation: Evaluation) -> str:
    """How near a pass came to what is allowed, and where; empty where nobody measured it."""
    nearest = evaluation.evidence.get("nearest_to_limit") if evaluation.passed else None
    if not nearest:
        return ""
    first, last = nearest["worst_tile"]
    where = nearest["note"] or nearest["workload"]
    return (
        f"at most {nearest['share']:.2g} of what is allowed (output {nearest['output']}, "
        f"{where}, worst in elements {first} to {last - 1})"
    )


def unclaimed(evaluation: Evaluation) -> str:
    """Why a confirm with rows that say *faster* is no improvement; empty where that is not so."""
    found, rivals = score(evaluation), strongest(evaluation)
    faster = any(one.decision is Decision.FASTER for one in rivals)
    if found is None or not faster or is_improvement(evaluation):
        return ""
    needed = 1 + max(one.margin for one in rivals)
    return (
        f"not claimed: over {rivals[0].baseline}, all workloads together, it is at least "
        f"{math.exp(found.low):.2f}x, and this machine could make that of a kernel that is no "
        f"faster; {needed:.2f}x would have to be exceeded"
    )


def labels(evaluation: Evaluation) -> list[str]:
    """What a reader must know beside the number, for example that results are not bitwise equal.

    Of a pass only: the evidence of a rejection is the reason itself.
    """
    if not evaluation.passed:
        return []
    found = evaluation.evidence
    said: list[str] = []
    distinct = found.get("distinct_results_in_40_repeats", 1)
    if distinct > 1:
        said.append(f"bits differ between runs ({distinct} results in 40), within the tolerance")
    if found.get("distinct_results_in_timed_repeats", 1) > 1 and distinct == 1:
        said.append("bits differ between runs at the timed size, within the tolerance")
    if called := found.get("library"):
        more = f" and {len(called) - NAMED} more" if len(called) > NAMED else ""
        said.append(f"calls {', '.join(called[:NAMED])}{more}")
    if evaluation.quarantined:
        said.append(
            f"quarantined: its time on {found[QUARANTINED]['workload']} is shorter than any kernel "
            "can need; only a confirm decides"
        )
    if cores := found.get("leftovers_on_cores"):
        said.append(f"what an earlier worker left still used {cores:.1f} cores")
    if evaluation.build and "-fopenmp-simd" in evaluation.build.flags:
        said.append("built without OpenMP threads, which this compiler cannot link")
    if linked := found.get("libraries"):
        said.append(f"uses {', '.join(linked)}")
    if found.get("draws_random_numbers"):
        said.append("draws random numbers")
    if recurring := found.get("contents_recur"):
        few = ", ".join(f"{count} on {workload}" for workload, count in recurring.items())
        said.append(
            f"timed calls repeat contents that the task's code drew ({few}), so a kernel that "
            "keeps answers to them would gain by it"
        )
    undefined = found.get("reference_undefined")
    if undefined:
        said.append(f"not judged where the reference is undefined: {', '.join(undefined)}")
    if found.get("same_binary_as_first_build") is False:
        said.append("a fresh build gave another binary")
    return said
