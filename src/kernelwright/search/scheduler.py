"""Every decision of a run: what to build, what to look at, when to stop.

A scheduler is fed inputs and answers each with one step for the store and the jobs to dispatch.
It reads no clock, no device and no chance, so the same inputs give the same steps: resuming and
auditing a run are nothing but feeding it again.

While it searches, a free slot is filled in this order: a build, as long as few built candidates
wait; a confirm that would end the search; whoever goes up by the ladder's rule; the first look
at what was built; whoever may go up because the device would idle. When the search is over, what
is in flight on the device is awaited and leaders are confirmed, one after another.
"""

from collections.abc import Sequence

from kernelwright import plugins
from kernelwright.budget.ledger import Ledger
from kernelwright.budget.limits import Limits
from kernelwright.proposers.base import context_for
from kernelwright.records.candidate import Candidate
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.run import Budget, Run
from kernelwright.records.rung import Rung, RungPlan
from kernelwright.records.task import Task
from kernelwright.search import closing, rungs
from kernelwright.search.authors import Authors
from kernelwright.search.course import Course, begun_again, ended
from kernelwright.search.decision import Decision
from kernelwright.search.inputs import Completed, Confirmed, Deadline, Input, Opened, to_event
from kernelwright.search.ladder import Ladder
from kernelwright.search.observer import Observer, Progress
from kernelwright.search.standings import Standings
from kernelwright.store.step import Claim, StoredEvaluation


class Scheduler:
    """The state machine of one run."""

    def __init__(self, run: Run, task: Task, start: Sequence[Candidate]) -> None:
        """Build from what the store holds of a run before its first event.

        Raises:
            UsageError: an unknown proposer or rule, or no workload for the device.
        """
        spec = run.spec
        self._run = run
        self.plans = {plan.rung: plan for plan in map(RungPlan.model_validate, run.notes["plans"])}
        timed = [rung for rung in self.plans if Rung.DRAFT < rung < Rung.CONFIRM]
        parents = plugins.make("parents", spec.parents, spec.seed)
        self.standings = Standings(
            Ladder(timed, rungs.ETA), parents, spec.target, confirms=Rung.CONFIRM in self.plans
        )
        self._people = self.standings.people
        self.ledger = Ledger(rungs.PRIOR_S)
        self.limits = Limits(spec.budget)
        context = context_for(task, spec, self.standings.value, start)
        self._authors = Authors(context, spec.proposers, parents)
        self.claims: dict[int, Claim] = {}
        """Dispatched and not yet back."""
        self._drafts = self._looks = 0
        self._number = self._sequence = 0
        self.course = Course()
        self._decision = Decision()
        self._ahead = self._authors.next(self._people.known)

    @property
    def has_candidates(self) -> bool:
        """Whether anything was proposed at all; without it there is no run."""
        return self._ahead is not None or bool(self._people.known)

    @property
    def run(self) -> Run:
        """The run as it stands."""
        return self._run.model_copy(update={"spent": self.ledger.spent})

    def candidate(self, claim: Claim) -> Candidate:
        """The candidate that a claim is about."""
        return self._people.known[claim.candidate]

    def take(self, given: Input) -> Decision:
        """Decide what follows from one input."""
        self._decision = Decision()
        match given:
            case Opened():
                self._opened(given)
            case Completed():
                self._completed(given)
            case Confirmed():
                self._confirmed(given)
            case Deadline():
                self.ledger.wall_s = max(self.ledger.wall_s, given.wall_s)
                self._decision.emit("deadline", **to_event(given, self._sequence))
                self.course.refused = True
                self._finish("the time is over")
        self._advance()
        return self._decision

    # What comes in

    def _opened(self, given: Opened) -> None:
        if self.standings.session is not None:
            self.ledger.charge_lost()
        self.standings.session = given.session
        self._drafts, self._looks = given.drafts, given.looks
        self.ledger.reopened(given.wall_s, given.session.confirm_s)
        if given.more is not None:
            self._go_on(given.more)
        self._decision.emit("opened", **to_event(given, self._sequence))
        self._decision.notice(Observer.session, self.run, given.session, self._progress())

    def _go_on(self, more: Budget) -> None:
        """More budget was given: a run that has ended begins again, with the confirm it lacks."""
        self.limits.add(more)
        self.course.feed()
        if self._run.status != "running":
            self.standings.is_overdue = True
            self._run = begun_again(self._run)

    def _confirmed(self, given: Confirmed) -> None:
        """Somebody asked for a confirm: what it costs is paid beside the budget, then all rests."""
        unfinished = self._run.status == "running"
        if unfinished:
            self.ledger.settle()
        lacking = unfinished or self.course.is_out_of_budget
        self.limits.add(given.price)
        self._claim(given.evaluation.candidate, Rung.CONFIRM)
        number, ended_s = self._number, self.ledger.wall_s + given.seconds
        self._completed(Completed(number, given.evaluation, ended_s))
        self.course.starved = lacking
        self._decision.emit("confirmed", **to_event(given, number))
        self._finish(str(self._run.notes.get("reason", "put down, and its leader then confirmed")))

    def _completed(self, given: Completed) -> None:
        claim = self.claims.pop(given.number)
        candidate, evaluation = self._people.known[claim.candidate], given.evaluation
        self.ledger.complete(given.number, evaluation, given.wall_s)
        posts = self._decision.step.posts
        if claim.rung is Rung.DRAFT:
            copies = self._people.drafted(evaluation) if evaluation.passed else []
        else:
            copies = self._people.looked(evaluation)
            crowned, wins = self.standings.looked(given.number, candidate, evaluation)
            posts += wins
            if crowned:
                data = {"candidate": candidate.id, "speedup": crowned.speedup}
                self._decision.emit("champion", evaluation=given.number, **data)
                self._decision.notice(Observer.champion, candidate, crowned.look, crowned.speedup)
        if not evaluation.passed:
            posts += self.standings.failed(given.number, candidate, evaluation)
        self._record(given.number, candidate, evaluation)
        for copy in copies:
            self._number += 1
            self._record(self._number, self._people.known[copy.candidate], copy)
        if claim.rung is Rung.CONFIRM and not evaluation.passed:
            # Those whom the dropped champion barred deserve their looks.
            self.course.go_on()
        patient = self._ahead is not None and self._ahead.coarse
        length = None if patient else rungs.PLATEAU[self._run.spec.effort]
        in_flight = [other.candidate for other in self.claims.values()]
        reason = self.standings.reason_to_stop(evaluation, length, in_flight)
        if self.course.searching and reason:
            self.course.stop(reason)

    def _record(self, number: int, candidate: Candidate, evaluation: Evaluation) -> None:
        self._sequence += 1
        books = self.ledger
        stored = StoredEvaluation(number, self._sequence, evaluation, books.wall_s, books.device_s)
        self._decision.step.evaluations.append(stored)
        self._authors.tell(candidate, evaluation)
        if evaluation.rung is Rung.DRAFT:
            self._decision.notice(Observer.drafted, candidate, evaluation)
        else:
            self._decision.notice(Observer.evaluated, candidate, evaluation, self._progress())

    # What goes out

    def _advance(self) -> None:
        """Fill the free slots; go from the search to the confirms, and to the end."""
        while self._run.status == "running":
            self.course.refused = False
            if self._dispatch_next():
                continue
            if self.course.searching and not self.claims:
                spent = self.limits.refusal(self.ledger, self.plans, self._people.built)
                self.course.end(spent, self._people.left_undone())
            elif not self.course.searching and not self.ledger.looks_in_flight():
                self._finish(self.course.reason)
            else:
                return

    def _dispatch_next(self) -> bool:
        """Dispatch one job into a free slot; whether there was one."""
        if not self.course.searching:
            way = closing.goes_up(self.standings, self.limits, self.ledger, self.course)
            return way is not None and self._promote(*way)
        building = self.ledger.drafts_in_flight()
        backlog = len(self._people.built) + building
        if building < self._drafts and backlog < self._drafts + self._looks and self._draft():
            return True
        return self.ledger.looks_in_flight() < self._looks and self._look()

    def _draft(self) -> bool:
        self._ahead = self._ahead or self._authors.next(self._people.known)
        first = self.standings.ladder.rungs[0]
        afterwards = (first, *self.standings.path(first))
        if self._ahead is None or not self._allowed(Rung.DRAFT, afterwards):
            return False
        (candidate, coarse), self._ahead = self._ahead, None
        self._people.add(candidate, coarse=coarse)
        if candidate.id not in self._run.spec.start:
            self._decision.step.candidates.append(candidate)
        self._claim(candidate.id, Rung.DRAFT)
        return True

    def _look(self) -> bool:
        ladder, first = self.standings.ladder, self.standings.ladder.rungs[0]
        urgent = self.standings.urgent()
        confirming = any(claim.rung is Rung.CONFIRM for claim in self.claims.values())
        if urgent and not confirming and self.limits.allows_last(self.ledger):
            return self._promote(urgent, Rung.CONFIRM)
        up = ladder.promotable()
        path = self.standings.path(first)
        if up is None and self._people.built and self._allowed(first, path):
            self._claim(self._people.built.popleft(), first)
            return True
        idle = ladder.otherwise_idle(only_hopeful=self.ledger.drafts_in_flight() > 0)
        for way in (up, idle):
            if way and self._allowed(way[1], self.standings.path(way[1])):
                ladder.promote(*way)
                return self._promote(*way)
        return False

    def _promote(self, candidate: str, to: Rung) -> bool:
        self._decision.emit("promoted", candidate=candidate, rung=to.word)
        self._decision.notice(Observer.promoted, self._people.known[candidate], to)
        self._claim(candidate, to)
        return True

    def _claim(self, candidate: str, rung: Rung) -> None:
        self._number += 1
        held = self.ledger.claim(self._number, rung)
        self.claims[self._number] = claim = Claim(self._number, candidate, rung, held)
        self._decision.step.claims.append(claim)
        self._decision.notice(Observer.dispatched, self._people.known[candidate], rung)

    def _allowed(self, rung: Rung, afterwards: Sequence[Rung]) -> bool:
        allowed = self.limits.allows(rung, self.ledger, afterwards, led=self.standings.is_led)
        self.course.refused |= not allowed
        return allowed

    def _finish(self, reason: str) -> None:
        self.ledger.settle()
        best = self.standings.finals.best()
        status = self.standings.finals.status(budget_ended=self.course.is_out_of_budget)
        self._run = ended(self._run, status, best.candidate if best else "", reason)
        self._decision.emit("stopped", status=status, best=self._run.best, reason=reason)

    def _progress(self) -> Progress:
        return self.standings.progress(self.ledger.spent, self.limits.budget, len(self.claims))
