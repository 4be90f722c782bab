"""The winner as one source file, with its numbers fixed and its evidence on top.

The file is a candidate again: ``kernelwright evaluate TASK FILE`` judges exactly what was
shipped, since its header has no tunables left.
"""

import re
import shlex

from kernelwright.errors import UsageError
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.search.summary import RunSummary

SUFFIX = {"cpp": ".cpp", "cuda": ".cu", "triton": ".py", "torch": ".py"}
_HEADER = re.compile(r"^// /// kernelwright[^\n]*\n(?://[^\n]*\n)*?// ///[ \t]*\n", re.MULTILINE)


def export(summary: RunSummary) -> dict[str, str]:
    """Files by name: one source.

    Raises:
        UsageError: the run has no confirmed winner.
    """
    best, confirmed = winner(summary)
    if best.language not in ("cpp", "cuda"):
        raise UsageError(f"--as file cannot fix the numbers of a {best.language} candidate yet")
    name = summary.task.name + SUFFIX[best.language]
    return {name: f"{_comment(summary, best, confirmed, name)}\n{fixed(best)}"}


def winner(summary: RunSummary) -> tuple[Candidate, Evaluation]:
    """The confirmed best and the evaluation that proves it.

    Raises:
        UsageError: there is none; says what to do.
    """
    if summary.best is None or summary.confirmed is None:
        going_on = summary.run.status in ("running", "interrupted")
        raise UsageError(
            f"run {summary.run.id} has no confirmed winner ({summary.run.status})",
            hint=f"kernelwright runs resume {summary.run.id}"
            if going_on
            else "give it more time: optimize --effort thorough",
        )
    return summary.best, summary.confirmed


def fixed(candidate: Candidate) -> str:
    """Source in which every tunable is a macro and the header has nothing left to tune."""
    header = candidate.header
    lines = ["// /// kernelwright"]
    if candidate.strategy:
        lines.append(f"// strategy = {_toml(candidate.strategy)}")
    for name, words in (("cures", header.cures), ("needs", header.needs), ("flags", header.flags)):
        if words:
            lines.append(f"// {name} = [{', '.join(map(_toml, words))}]")
    lines.append("// ///")
    macros = [f"#define {name} {_macro(value)}" for name, value in candidate.tunables.items()]
    body = _HEADER.sub("", candidate.source, count=1)
    return "\n".join([*lines, *macros, body])


def build_command(confirmed: Evaluation, source: str) -> str:
    """The shell command that builds the shipped source as it was judged."""
    build = confirmed.build
    compiler = (build.compiler if build else "").split(" ")[0].rpartition("/")[2] or "g++"
    flags = [flag for flag in (build.flags if build else ()) if not flag.startswith("-D")]
    for needed in ("-shared", "-fPIC"):
        if needed not in flags:
            flags.append(needed)
    library = "lib" + source.rpartition(".")[0] + ".so"
    return shlex.join([compiler, *flags, "-o", library, source])


def proof(confirmed: Evaluation) -> list[str]:
    """One line a comparison: rival, workload, ratio with its interval, decision."""
    return [
        f"{one.ratio:.2f}x [{one.low:.2f}, {one.high:.2f}] against {one.baseline} "
        f"on {one.workload} ({one.decision.value.upper()})"
        for one in confirmed.comparisons
    ]


def _comment(summary: RunSummary, candidate: Candidate, confirmed: Evaluation, name: str) -> str:
    environment = confirmed.environment
    build = confirmed.build
    lines = [
        f"{summary.task.name}: {summary.task.summary}".rstrip(": "),
        f"Found by kernelwright, run {summary.run.id}, candidate {candidate.id}",
        *proof(confirmed),
    ]
    if environment.get("device"):
        lines.append(f"Measured on {environment['device']}, {summary.run.spec.threads} threads")
    if build and build.compiler:
        lines.append(f"Compiler: {build.compiler}")
    lines.append(f"Build: {build_command(confirmed, name)}")
    return "\n".join("// " + line.replace("\\", "/") for line in lines)


def _toml(word: str) -> str:
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _macro(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
