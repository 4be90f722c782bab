"""The winner as one source file, with its numbers fixed and its evidence on top.

The file is a candidate again: ``kernelwright evaluate TASK FILE`` judges exactly what was
shipped, since its header has no tunables left.
"""

import shlex

from kernelwright.candidates.notation import notation
from kernelwright.devices.disturbance import disturbance
from kernelwright.errors import UsageError
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.run import is_won
from kernelwright.search.score import undecided
from kernelwright.search.summary import RunSummary
from kernelwright.ship import python
from kernelwright.ship.header import untuned, without_header


def export(summary: RunSummary) -> dict[str, str]:
    """Files by name: one source.

    Raises:
        UsageError: the run has no confirmed winner.
    """
    best, _ = winner(summary)
    written = notation(best.language)
    name = summary.task.name + written.endings[0]
    if written.like_c:
        return {name: f"{comment(summary, written.comment, name)}\n{fixed(best)}"}
    body = python.fixed(best, summary.task.entry)
    return {name: f"{comment(summary, written.comment)}\n{body}"}


def winner(summary: RunSummary) -> tuple[Candidate, Evaluation]:
    """The confirmed best and the evaluation that proves it.

    Raises:
        UsageError: there is none; says what to do.
    """
    if not is_won(summary.run) or summary.best is None or summary.confirmed is None:
        otherwise = f"kernelwright optimize {summary.task.name} --effort thorough tries more"
        if summary.confirmed and undecided(summary.confirmed):
            otherwise = f"kernelwright confirm {summary.run.id} measures it again"
        if summary.rejection:
            shows = f"kernelwright runs show {summary.run.id}"
            otherwise = summary.rejection.again(summary.task.name) or f"{shows} says of what kind"
            otherwise = f"every candidate was rejected: {otherwise}"
        if summary.run.status == "running":
            otherwise = f"kernelwright runs show {summary.run.id} says how far it is"
        raise UsageError(
            f"run {summary.run.id} has no confirmed winner ({summary.run.status})",
            hint=summary.way_on() or otherwise,
        )
    return summary.best, summary.confirmed


def fixed(candidate: Candidate) -> str:
    """C source in which every tunable is a macro and the header has nothing left to tune."""
    sign = notation(candidate.language).comment
    macros = [f"#define {name} {_macro(value)}" for name, value in candidate.tunables.items()]
    return "\n".join([*untuned(candidate, sign), *macros, without_header(candidate.source, sign)])


def build_words(confirmed: Evaluation) -> list[str]:
    """Compiler and flags with which it was judged, the values of tunables left out."""
    build = confirmed.build
    compiler = (build.compiler if build else "").split(" ")[0].rpartition("/")[2] or "g++"
    flags = [flag for flag in (build.flags if build else ()) if not flag.startswith("-D")]
    told = "\n".join(flags)  # a flag may be handed on by another, as -Xcompiler=-fPIC
    return [compiler, *flags, *(flag for flag in ("-shared", "-fPIC") if flag not in told)]


def build_command(confirmed: Evaluation, source: str) -> str:
    """The shell command that builds the shipped source as it was judged."""
    library = "lib" + source.rpartition(".")[0] + ".so"
    return shlex.join([*build_words(confirmed), "-o", library, source])


def proof(confirmed: Evaluation) -> list[str]:
    """One line a comparison: rival, workload, ratio with its interval, decision, margin."""
    return [
        f"{one.ratio:.2f}x [{one.low:.2f}, {one.high:.2f}] against {one.baseline} "
        f"on {one.workload} ({one.decision.value.upper()}, margin {one.margin:.0%})"
        for one in confirmed.comparisons
    ]


def circumstances(confirmed: Evaluation) -> list[str]:
    """Missing baselines, controls that did not hold, whether the machine was busy: a line each."""
    missing = confirmed.evidence.get("missing_baselines", {})
    lines = [f"Not compared with {name}: {reason}" for name, reason in missing.items()]
    failed = [one for one in confirmed.controls if one.verdict != "held"]
    lines += [f"Control not held, {one.name}: {one.said}" for one in failed]
    if confirmed.conditions is None:
        return [*lines, "Whether the machine was busy meanwhile is not known"]
    busy = disturbance(confirmed.conditions)
    return [*lines, f"Busy meanwhile: {busy}" if busy else "The machine was quiet meanwhile"]


def comment(summary: RunSummary, sign: str = "//", name: str = "") -> str:
    """What it is, how fast, measured where, built how: the top of a shipped file.

    Args:
        summary: a run with a winner.
        sign: how the language begins a comment.
        name: the file's name, for the command that builds it; empty: no command.
    """
    best, confirmed = winner(summary)
    found = summary.run
    device = confirmed.environment.get("device", "")
    lines = [
        f"{summary.task.name}: {summary.task.summary}".rstrip(": "),
        f"Found by kernelwright, run {found.id} of {found.created[:10]}, candidate {best.id}",
        *proof(confirmed),
        *circumstances(confirmed),
    ]
    if device:
        threads = summary.run.spec.threads
        lines.append(f"Measured on {device}, {threads} thread{'' if threads == 1 else 's'}")
    if confirmed.build and confirmed.build.compiler:
        what = "Compiler" if notation(best.language).like_c else "With"
        lines.append(f"{what}: {confirmed.build.compiler}")
    if name:
        lines.append(f"Build: {build_command(confirmed, name)}")
    # A backslash at the end of a line would continue the comment, a line break would end it.
    plain = (" ".join(line.split()).replace("\\", "/") for line in lines)
    return "\n".join(f"{sign} {line}" for line in plain)


def _macro(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
