"""How long a run that its budget ended still needs for a confirmed number.

Refuses to promise: means are exceeded, so what it says is what the ledger would set aside.
"""

from collections.abc import Sequence

from kernelwright.budget.ledger import SAFETY, Ledger, Reservation
from kernelwright.records.job import Session
from kernelwright.records.run import Run
from kernelwright.records.rung import Rung
from kernelwright.search import rungs
from kernelwright.store.step import Claim, Event, StoredEvaluation


def path(run: Run, passed: Rung | None) -> tuple[Rung, ...]:
    """The looks that are still needed: none is left out, the confirm comes last.

    Args:
        run: with the plans that it began with.
        passed: the dearest look that its leader passed; None without a leader.
    """
    plans = run.notes.get("plans", ())
    known = sorted({Rung(plan["rung"]) for plan in plans}) or list(Rung)
    return tuple(rung for rung in known if rung > (Rung.DRAFT if passed is None else passed))


def seconds(
    needed: Sequence[Rung],
    run: Run,
    events: Sequence[Event],
    looks: Sequence[StoredEvaluation],
    claims: Sequence[Claim],
) -> float:
    """Wall seconds for opening the device again and for the looks that are needed.

    Args:
        needed: from :func:`path`.
        run: as it ended.
        events: of the run.
        looks: its evaluations, in order of completion.
        claims: its jobs; one that never came back was given up.
    """
    openings = [one.data for one in events if one.kind == "opened"]
    ledger = _books(openings, looks)
    done = {one.number for one in looks}
    latest = max((one.wall_s for one in looks), default=0.0)
    began = max([latest, *(float(one["wall_s"]) for one in openings)])
    # A job that was cut off takes longer than it had.
    waited = {one.rung: SAFETY * (run.spent.wall_s - began) for one in claims
              if one.number not in done}  # fmt: skip
    opening = float(openings[0]["wall_s"]) if openings else 0.0
    return opening + sum(max(ledger.estimate(rung), waited.get(rung, 0.0)) for rung in needed)


def _books(openings: Sequence[dict[str, object]], looks: Sequence[StoredEvaluation]) -> Ledger:
    """What each rung took, told again from the store."""
    ledger = Ledger(rungs.PRIOR_S)
    if openings:
        session = Session.model_validate(openings[-1]["session"])
        ledger.reopened(0.0, session.confirm_s)
    for one in looks:
        look = one.evaluation
        if not look.copied_from:
            since = one.wall_s - look.seconds
            ledger.in_flight[one.number] = Reservation(look.rung, 0.0, since)
            ledger.complete(one.number, look, one.wall_s)
    return ledger
