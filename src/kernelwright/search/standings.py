"""Who stands where: the ladder, the champion, the confirmed, the board and the parents.

Turns looks into standings; decides nothing about budgets, slots or the end of a run.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from kernelwright.errors import JudgeError, PrerequisiteError
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.job import Session
from kernelwright.records.post import Post
from kernelwright.records.run import Budget, Spent
from kernelwright.records.rung import Rung
from kernelwright.search import score as scores
from kernelwright.search.board import Board
from kernelwright.search.finals import Finals
from kernelwright.search.ladder import Ladder
from kernelwright.search.observer import Progress
from kernelwright.search.parents.base import Parents
from kernelwright.search.population import Population
from kernelwright.search.score import Score


@dataclass(frozen=True)
class Coronation:
    """A new champion's look."""

    look: Evaluation
    speedup: float


class Standings:
    """The candidates of one run, ranked."""

    def __init__(
        self, ladder: Ladder, parents: Parents, target: float | None, *, confirms: bool = True
    ) -> None:
        """Begin empty.

        Args:
            ladder: the timed rungs.
            parents: the rule that is told of every look.
            target: the speedup that ends a search.
            confirms: whether leaders are confirmed; not on a landscape that recorded none.
        """
        self.ladder = ladder
        self._last = (Rung.CONFIRM,) if confirms else ()
        self.parents = parents
        self.finals = Finals(target)
        self.people = Population()
        self._board = Board()
        self._session: Session | None = None
        self.rival = ""
        """Baseline that looks are compared with: the strongest when the run began."""
        self.since_champion = 0
        """Looks since the champion last got better."""
        self.is_overdue = False
        """Whether the run was to end once, and no confirm may wait for its end any more."""

    @property
    def session(self) -> Session | None:
        """The latest session.

        Another strongest baseline than before changes nothing: looks go on to be compared with
        the same one, or their numbers could not stand beside each other.

        Raises:
            PrerequisiteError: on setting, that baseline cannot be had any more.
        """
        return self._session

    @session.setter
    def session(self, session: Session) -> None:
        missing = {one.name: one.missing for one in session.baselines if not one.time_us}
        if self.rival in missing:
            raise PrerequisiteError(
                f"the run was compared with {self.rival}, which cannot be had here: "
                f"{missing[self.rival] or 'it was not timed'}",
                hint="resume it where it can, or start a new run from your best: --start FILE",
            )
        self.rival = self.rival or session.strongest
        self._session = self.finals.session = session

    @property
    def top(self) -> Rung:
        """The highest timed rung below confirm."""
        return self.ladder.rungs[-1]

    @property
    def champion(self) -> str:
        """Id of the leader at the top, or empty."""
        return self.ladder.champion

    def score(self, evaluation: Evaluation) -> Score | None:
        """A look's score; None for a failure or an untimed look.

        Raises:
            JudgeError: it was compared with another baseline than the run's.
        """
        if evaluation.rung is Rung.CONFIRM:
            return scores.score(evaluation)
        found = scores.score(evaluation, (self.rival,))
        if found is None and evaluation.passed and evaluation.comparisons:
            raise JudgeError(
                f"a look was compared with {evaluation.comparisons[0].baseline}, "
                f"not with {self.rival} as the looks before it"
            )
        return found

    def value(self, evaluation: Evaluation) -> float | None:
        """The score's value alone, for proposers."""
        found = self.score(evaluation)
        return found.value if found else None

    def speedup(self, candidate: str) -> float | None:
        """Geometric mean at the top rung, if the candidate passed there."""
        found = self.ladder.score(candidate, self.top)
        return found.speedup if found else None

    def looked(
        self, number: int, candidate: Candidate, look: Evaluation
    ) -> tuple[Coronation | None, list[Post]]:
        """A look ended: a new champion, if it made one, and what it taught."""
        if look.rung is Rung.CONFIRM:
            self.finals.add(look)
            leader = self._leader()
            if leader != self.champion:
                # A dropped champion bars nobody's way any more, and was no reason to give up.
                self.ladder.champion, self.since_champion = leader, 0
            return None, []
        found = self.score(look)
        coarse = candidate.id in self.people.coarse
        self.ladder.add(candidate.id, look.rung, found, coarse=coarse)
        if found is not None and not look.quarantined:
            self.parents.tell(candidate, look.rung, found.value)
        self.since_champion += 1
        leader = self._leader()
        if found is None or leader == self.champion or leader != candidate.id:
            return None, []
        before, old = self.people.known.get(self.champion), self.speedup(self.champion)
        self.ladder.champion, self.since_champion = leader, 0
        posts = self._board.win(number, candidate, before, found.speedup / (old or 1.0))
        return Coronation(look, found.speedup), posts

    def failed(self, number: int, candidate: Candidate, evaluation: Evaluation) -> list[Post]:
        """What a failure teaches."""
        return self._board.trap(number, candidate, self.people.parent(candidate), evaluation)

    def path(self, rung: Rung) -> tuple[Rung, ...]:
        """Looks still needed after one at ``rung`` to end with a confirmed number."""
        passed = max(rung, self.ladder.best_rung())
        return (*(later for later in self.ladder.rungs if later > passed), *self._last)

    def urgent(self) -> str | None:
        """A champion whose confirm would end the search at once, is overdue, or is in doubt."""
        look = self.people.look(self.champion, self.top)
        if look is None or not self._last or self.champion in self.finals.verdicts:
            return None
        overdue = self.is_overdue and self.finals.best() is None
        now = overdue or look.quarantined or self.finals.ends_search(look)
        return self.champion if now else None

    @property
    def is_led(self) -> bool:
        """Whether somebody could be confirmed now who was not yet."""
        return self.to_confirm() is not None

    def to_confirm(self) -> str | None:
        """Whom to confirm at the end, or None when that is done."""
        if not self._last:
            return None
        return self.finals.next(self.ladder.leaders(), self._looked_faster)

    def asked_for(self) -> Candidate | None:
        """Whom to confirm when somebody asks: the best that was, else the best that climbed."""
        best = self.finals.best()
        climbed = self.ladder.passed(self.ladder.best_rung())
        names = (
            [best.candidate]
            if best
            else (one for one in climbed if not self.finals.is_dropped(one))
        )
        return next((self.people.known[name] for name in names), None)

    def reason_to_stop(
        self, evaluation: Evaluation, length: int | None, in_flight: Sequence[str]
    ) -> str:
        """Why the search need not go on after this evaluation; empty if it must.

        Args:
            evaluation: the latest.
            length: looks that make a plateau; None while structures are still to come.
            in_flight: ids of candidates whose job is not back.
        """
        if evaluation.rung is Rung.CONFIRM:
            return self.finals.ends_search(evaluation)
        stood = bool(self.champion) and length is not None and self.since_champion >= length
        if stood and self.people.coarse_are_seen(in_flight):
            return f"no better candidate in {self.since_champion} looks"
        return ""

    def progress(self, spent: Spent, budget: Budget, in_flight: int) -> Progress:
        """Where the run stands, for whoever watches."""
        leader = self.people.look(self.champion, self.top)
        who = self.people.known.get(self.champion)
        return Progress(spent, budget, in_flight, len(self.people.known), leader, who)

    def _leader(self) -> str:
        leaders = self.ladder.leaders()
        return next((one for one in leaders if not self.finals.is_dropped(one)), "")

    def _looked_faster(self, candidate: str) -> bool:
        found = self.ladder.score(candidate, self.top)
        return found is not None and found.low > 0
