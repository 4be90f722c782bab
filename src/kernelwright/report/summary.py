"""What a run found, on one screen. A ratio is never printed without its rival and its interval."""

from collections.abc import Iterable, Sequence

from kernelwright.devices.disturbance import disturbance
from kernelwright.devices.measured import EXCEEDED
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.measurement import Comparison
from kernelwright.records.rung import Rung
from kernelwright.records.sensitivity import Policy
from kernelwright.records.session_control import SessionControl
from kernelwright.report import text
from kernelwright.report.isolation import isolation, unbuilt
from kernelwright.report.labels import labels, largest_error
from kernelwright.report.onward import paste
from kernelwright.report.rejected import refused, rejected
from kernelwright.report.standing import audited, earlier, status
from kernelwright.search.summary import RunSummary
from kernelwright.tasks.notes import BITS

BEYOND = {
    "bandwidth": "the bandwidth was measured too low, or caches held part of the data; the next "
    "session measures it again",
    "rate": "the rate was measured too low, or it does less work than the obvious algorithm",
}
APART = 0.05
"""How far a ratio may be from that of the two times before it is said why."""
MEDIANS = "(a ratio is the median of ratios of pairs, not the quotient of the two medians)"


def run_text(summary: RunSummary) -> str:
    """The whole summary of a run.

    Args:
        summary: what the store knows of it.
    """
    parts = [_head(summary)]
    if summary.best and summary.confirmed:
        parts.append(comparisons(summary.confirmed.comparisons))
        beside = [*map(earlier, summary.earlier), *map(audited, summary.audits)]
        parts.append("\n".join([evidence(summary.confirmed), *beside]))
    elif summary.counts.by_outcome:
        parts.append("\n\n".join(filter(None, (_outcomes(summary), rejected(summary)))))
    parts += [refused(summary), _costs(summary)]
    return "\n\n".join(filter(None, parts))


def in_a_line(summary: RunSummary) -> str:
    """A run for whoever looks at it in Python: who won or leads, and how to go on."""
    won = summary.best if summary.run.status != "no_improvement" else None
    best = strategy(won) if won else "none"
    parts = [repr(summary.run.id), f"task={summary.task.name!r}", summary.run.status]
    parts.append(f"best={best!r}")
    if summary.leading:
        parts.append(f"leading={strategy(summary.leading.candidate)!r} (not confirmed)")
    parts += [f"next={line!r}" for line in paste(summary)]
    return ", ".join(parts)


def strategy(candidate: Candidate, *, short: bool = False) -> str:
    """A candidate's strategy with its numbers; short: without what follows a colon."""
    words = candidate.strategy or candidate.author
    numbers = " ".join(f"{name}={value}" for name, value in candidate.tunables.items())
    return " ".join(filter(None, (words.partition(":")[0] if short else words, numbers)))


def comparisons(found: Sequence[Comparison]) -> str:
    """Every comparison, a line each."""
    if not found:
        return ""
    table = text.table(
        ("against", "workload", "kernel", "baseline", "ratio [95 %]", "margin", "decision"),
        [
            (
                one.baseline,
                one.workload,
                text.duration(one.candidate_us),
                text.duration(one.baseline_us),
                text.ratio(one.ratio, one.low, one.high),
                text.margin(one.margin),
                one.decision.value.upper(),
            )
            for one in found
        ],
        right="  rr r",
    )
    apart = any(
        abs(one.baseline_us - one.ratio * one.candidate_us) > APART * one.baseline_us
        for one in found
    )
    return f"{table}\n{MEDIANS}" if apart else table


def evidence(evaluation: Evaluation, *, checks: bool = True) -> str:
    """Roofline, what was checked, isolation, error, notes: the lines under a table of ratios.

    Args:
        evaluation: the verdict.
        checks: name the checks; False where a table of them is shown anyway.
    """
    lines = []
    if evaluation.roofline:
        roof = evaluation.roofline
        beyond = f"; {BEYOND[roof.bound]}" if roof.fraction > EXCEEDED else ""
        said = f"{roof.fraction:.0%} of what {roof.bound} allows"
        unknown = "" if roof.operations_known else "; operations unknown"
        floor = f"floor {text.duration(roof.floor_us)}{unknown}"
        lines.append(text.labelled("roofline", f"{said} ({floor}){beyond}"))
    if checks and evaluation.checks:
        names = _once(one.name for one in evaluation.checks)
        lines.append(text.labelled("checked", ", ".join(names)))
    if not unbuilt(evaluation):
        lines += isolation(evaluation.sandbox)
    if evaluation.passed and (busy := disturbance(evaluation.conditions)):
        lines.append(text.labelled("busy", f"{busy} while this was measured"))
    if evaluation.controls:
        decides = "; a row is decided by its own margin" if evaluation.comparisons else ""
        lines.append(text.labelled("controls", controls(evaluation.controls) + decides))
    missing = evaluation.evidence.get("missing_baselines", {}) if evaluation.passed else {}
    lines += [f"without    {name}: {reason}" for name, reason in missing.items()]
    if error := largest_error(evaluation):
        lines.append(text.labelled("error", error))
    if found := labels(evaluation):
        lines.append(text.labelled("noted", "; ".join(found)))
    return "\n".join(lines)


def controls(found: Sequence[SessionControl]) -> str:
    """What the judge showed of itself in a session, in a line."""
    held = ", ".join(one.name for one in found if one.verdict == "held")
    rest = [f"{one.name} ({one.said})" for one in found if one.verdict != "held"]
    if not rest:
        return f"all held ({held})"
    return "; ".join(filter(None, (f"held: {held}" if held else "", f"not: {', '.join(rest)}")))


def policy(found: Policy) -> str:
    """How exact results had to be, as a line."""
    limit = found.tolerance
    said = [f"error at most {limit.k:g} times that of honest sums, or {limit.ulps:g} ulp"]
    if found.tightened_from:
        said[0] += f" (tightened from {found.tightened_from.k:g})"
    if found.precision:
        said.append(f"may compute in {', '.join(found.precision)}")
    said.append(BITS[found.determinism])
    return "; ".join(said)


def _head(summary: RunSummary) -> str:
    spec = summary.run.spec
    environment = summary.session.environment if summary.session else {}
    device = environment.get("device", "")
    lines = [
        ("run", summary.run.id),
        ("task", " – ".join(filter(None, (summary.task.name, summary.task.summary)))),
        ("device", f"{device or spec.device}, {text.count(spec.threads, 'thread')}"),
        ("status", status(summary)),
    ]
    if summary.session and summary.rival not in ("", summary.session.strongest):
        now = summary.session.strongest
        text_ = f"looks with {summary.rival}, the strongest baseline when it began ({now} is now); "
        lines.append(("compared", text_ + "a confirm with every one"))
    if summary.best:
        best = f"{strategy(summary.best)} ({summary.best.language}, {summary.best.id})"
        lines.append(("closest" if summary.run.status == "no_improvement" else "best", best))
    elif summary.leading:
        who, rung = summary.leading.candidate, summary.leading.rung
        passed = f"{strategy(who)} ({who.language}, {who.id}), passed {rung.word}"
        lines.append(("leading", f"not confirmed: {passed}"))
    lines.append(("accuracy", policy(summary.policy)))
    return "\n".join(text.labelled(name, value) for name, value in lines)


def _outcomes(summary: RunSummary) -> str:
    counts = summary.counts
    rows = dict(counts.by_outcome)
    if counts.only_built:
        # A draft that passed was built, no more: it must not read as a right answer.
        rows["passed"] -= counts.only_built
        rows["built, not run"] = counts.only_built
    found = sorted(
        ((name, count) for name, count in rows.items() if count), key=lambda one: -one[1]
    )
    return text.table(("outcome", "candidates"), found, right=" r")


def _costs(summary: RunSummary) -> str:
    counts, spent = summary.counts, summary.spent
    total = sum(counts.device_s_by_rung.values())
    rows = []
    for rung in Rung:
        if rung.word in counts.by_rung:
            seconds = counts.device_s_by_rung.get(rung.word, 0.0)
            share = f"{seconds / total:.0%}" if total else "-"
            rows.append((rung.word, counts.by_rung[rung.word], f"{seconds:.1f}", share))
    table = text.table(("rung", "looks", "device s", "share"), rows, right=" rrr") if rows else ""
    line = (
        f"spent      {spent.wall_s:.0f} s, {spent.device_s:.0f} s of them on the device; "
        f"{text.count(counts.drafted, 'candidate')}, {counts.built} built, "
        f"{counts.measured} measured"
    )
    if counts.copied:
        line += f", {counts.copied} not measured again (same binary as another)"
    if spent.tokens:
        line += f"; {spent.tokens} tokens, {spent.usd:.2f} USD"
    return "\n\n".join(filter(None, (table, line)))


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
