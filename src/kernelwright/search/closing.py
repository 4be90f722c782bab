"""The end of a search: who is looked at once nothing new is tried, leaders before anybody else.

Refuses to begin what the budget cannot pay, and tells the course so.
"""

from kernelwright.budget.ledger import Ledger
from kernelwright.budget.limits import Limits
from kernelwright.records.rung import Rung
from kernelwright.search.course import Course
from kernelwright.search.standings import Standings


def goes_up(
    standings: Standings, limits: Limits, ledger: Ledger, course: Course
) -> tuple[str, Rung] | None:
    """Who goes up now, and to which rung; None when nobody does."""
    # Looks already paid for may still change the leader, so they are awaited.
    if ledger.looks_in_flight():
        return None
    leader = standings.to_confirm()
    if leader is None and not standings.finals.verdicts:
        return _climber(standings, limits, ledger, course)
    course.refused = leader is not None and not limits.allows_last(ledger)
    return None if leader is None or course.refused else (leader, Rung.CONFIRM)


def _climber(
    standings: Standings, limits: Limits, ledger: Ledger, course: Course
) -> tuple[str, Rung] | None:
    """Somebody climbs although time is short: without a leader there is no number at all."""
    ladder = standings.ladder
    way = ladder.promotable() or ladder.otherwise_idle(only_hopeful=False)
    course.refused = way is not None
    if way is None or not limits.allows_last(ledger):
        return None
    ladder.promote(*way)
    return way
