"""Inputs and right answers for the cases of one task; the only friend of the oracle.

Holds what a candidate must never see. Honest errors (``e0``) need two more evaluations, a slow
serial one among them, so they are measured once a workload and reused for the fresh contents of
timed calls, whose distribution is the same. An output that misses by little is not rejected on
that: its question is asked again, with the honest errors of its very contents, of more draws, and
of compilers that contract.
"""

import contextlib
import time
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from kernelwright.checks.answer import Answer, make_answer
from kernelwright.evaluation.arena import Array, numpy_dtype
from kernelwright.evaluation.honest_errors import HonestErrors, few
from kernelwright.evaluation.lower_types import lower
from kernelwright.evaluation.nudges import widened
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.question import Make, Question
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.records.task import Case, Shaped, Task
from kernelwright.tasks import hostile, inputs
from kernelwright.tasks.draws import Draws
from kernelwright.tasks.fresh import Fresh

MORE_DRAWS = 7
"""Beside the first, where honest errors of one draw are not enough."""
STEADY_SECONDS = 3.0
"""After which no further draw is begun: a large workload has its price."""
TRUTH_ONLY = ("truth",)
HONEST = ("native", "serial")
EVERY = ("truth", *HONEST, "contracted")


class Answers:
    """Draws inputs and asks the oracle about them.

    Args:
        task: loaded in the oracle.
        oracle: a started oracle.
        secret: seed of everything drawn here; never leaves this process.
    """

    def __init__(self, task: Task, oracle: Oracle, secret: int) -> None:
        self.task = task
        self.oracle = oracle
        self.secret = secret
        self._questions, self._heard_again = dict[str, Question](), dict[str, Question]()
        """As they were first asked, and those of which more is known since."""
        self._undefined: dict[str, ReferenceFailure] = {}
        self._errors: dict[str, HonestErrors] = {}
        self._usual: dict[str, HonestErrors] = {}
        """Of several draws, by kind of question; only where one was asked again."""
        self._draws: dict[str, Draws | None] = {}

    def base(self, case: Case) -> Question:
        """The session's question on one workload; also sets its honest errors.

        Raises:
            ReferenceFailure: the reference fails on it; the same holds for the other questions.
        """
        return self._once(case.workload, case, lambda seed: self.draw(case, seed), case.workload)

    def touched(self, case: Case) -> Question:
        """The session's question that follows the one before on that workload.

        It differs little from it, unless that would break something in every input.
        """

        def contents(seed: int) -> dict[str, Array]:
            base = self.base(case).contents
            views = {name: one.copy() for name, one in base.items()}
            fresh = Fresh(case, base, seed)
            fresh.touch(views, np.random.default_rng(seed))
            return views if fresh.touchable() else self.draw(case, seed)

        noted = case.model_copy(update={"note": "inputs changed since the call before"})
        return self._once(f"{case.workload}|touched", noted, contents)

    def shape(self, case: Case) -> Question:
        """The session's question on an edge or hidden shape."""
        return self._once(
            f"{case.workload}|{case.note}|{case.axes}", case, lambda seed: self.draw(case, seed)
        )

    def hostile(self, case: Case, kind: str) -> Question:
        """The session's question of one hostile kind; small integers may be answered exactly."""

        def contents(seed: int) -> dict[str, Array]:
            views = self.draw(case, seed)
            hostile.draw(case, kind, seed, views)
            return views

        noted = case.model_copy(update={"note": f"hostile inputs: {kind}"})
        found = self._once(f"{case.workload}|hostile|{kind}", noted, contents)
        return found.whole() if kind == hostile.INTEGERS else found

    def timed(self, case: Case, contents: dict[str, Array]) -> Question:
        """What a timed call should make of its fresh contents, which are like the workload's."""

        def make(seed: int) -> dict[str, Array]:
            views = _empty(case)
            fresh = Fresh(case, self.base(case).contents, seed, self._of_the_task(case))
            fresh.write(views, np.random.default_rng(seed))
            return views

        answers = self.answer(case, contents, known=case.workload)
        return Question(case, contents, answers, f"{case.workload}|timed", make, measured=False)

    def again(self, question: Question) -> Question:
        """The same question with all that is known of honest errors on its kind of contents.

        Those on ordinary contents count too: on values that are nearly alike, honest evaluations
        round alike, and another honest order of operations does not.

        Asked before a candidate is rejected for missing by little; whoever comes later is held to
        the same. No more is granted than a hearing may of what was allowed at first, however many
        there are, and what was compared stays compared.
        """
        if question.make is None:
            return question
        own = self._heard(question.case, question.contents)
        known = HonestErrors.of(own).joined(self._several(question, question.make))
        known = known.joined(self._errors.get(question.case.workload, HonestErrors({})))
        first = self._questions.get(question.key, question)
        most = known.bounded(first.answers, self.task.tolerance)
        wider = widened(self.oracle, self.task, question, own)
        found = question.held_to(most).doubting(wider, first)
        if question.key in self._questions:
            self._heard_again[question.key] = found
        return found

    def _several(self, question: Question, make: Make) -> HonestErrors:
        """Honest errors of several draws of one kind, made once."""
        key = question.key
        if key not in self._usual:
            until = time.monotonic() + STEADY_SECONDS
            found = HonestErrors({})
            for number in range(MORE_DRAWS):
                if time.monotonic() > until:
                    break
                with contextlib.suppress(ReferenceFailure):
                    more = self._heard(question.case, make(self.seed(key, number)))
                    found = found.joined(HonestErrors.of(more))
            self._usual[key] = found
        return self._usual[key]

    def _once(self, key: str, case: Case, make: Make, known: str = "") -> Question:
        if key in self._undefined:
            raise self._undefined[key]
        if key not in self._questions:
            try:
                found = self._questions[key] = self._new(key, case, make)
            except ReferenceFailure as failure:
                if failure.undefined:
                    self._undefined[key] = failure
                raise
            if known:
                self._errors[known] = HonestErrors.of(found.answers)
        return self._heard_again.get(key, self._questions[key])

    def _new(self, key: str, case: Case, make: Make) -> Question:
        """A question that is kept; asked again where the process or the machine failed once."""
        try:
            return self._asked(key, case, make)
        except ReferenceFailure as failure:
            if not failure.undefined:
                return self._asked(key, case, make)
            raise

    def _asked(self, key: str, case: Case, make: Make) -> Question:
        contents = make(self.seed(key))
        found = Question(case, contents, self.answer(case, contents), key, make)
        return found.held_to(self._several(found, make)) if few(found.answers) else found

    def draw(self, case: Case, seed: int) -> dict[str, Array]:
        """Fresh inputs of ``case``."""
        views = _empty(case)
        if any(item.values.kind == "given" for item in case.inputs):
            self.oracle.generate(seed, case, views)
        else:
            inputs.draw(case, seed, views)
        return views

    def draws(self, case: Case) -> Draws | None:
        """The session's draws of what the task's own code makes on one workload; None if nothing.

        They are kept, so that drawing takes its time once, not for each set of buffers.
        """
        if case.workload not in self._draws:
            self._draws[case.workload] = self._of_the_task(case)
        return self._draws[case.workload]

    def _of_the_task(self, case: Case) -> Draws | None:
        given = [item.name for item in case.inputs if item.values.kind == "given"]
        return Draws(partial(self.draw, case), given, self.base(case).contents) if given else None

    def answer(self, case: Case, contents: Mapping[str, Array], *, known: str = "") -> list[Answer]:
        """The right outputs for ``contents``, in the order of the task.

        Args:
            case: shapes and scalars.
            contents: the inputs, by name.
            known: workload whose honest errors were measured by :meth:`base` and hold for
                these equally distributed contents too; empty measures them afresh.
        """
        remembered = self._errors.get(known) if known else None
        if remembered is not None:
            truth = self.oracle.truth(case, contents, TRUTH_ONLY)["truth"]
            return [remembered.at(_made(item, truth, ())) for item in case.outputs]
        return self._measured(case, contents, ("truth", *HONEST))

    def _heard(self, case: Case, contents: Mapping[str, Array]) -> list[Answer]:
        try:
            return self._measured(case, contents, EVERY)
        except ReferenceFailure:  # its arithmetic may be the fault of ours
            return self._measured(case, contents, EVERY[:-1])

    def _measured(
        self, case: Case, contents: Mapping[str, Array], parts: Sequence[str]
    ) -> list[Answer]:
        found = self.oracle.truth(case, contents, parts)
        truth = found.pop("truth")
        honest = [*found.values(), *lower(self.oracle, self.task, case, contents)]
        return [_made(item, truth, honest) for item in case.outputs]

    def honest(self, case: Case, contents: Mapping[str, Array]) -> list[dict[str, Array]]:
        """What honest arithmetic makes of ``contents``, evaluation by evaluation."""
        found = self.oracle.truth(case, contents, HONEST)
        return [*found.values(), *lower(self.oracle, self.task, case, contents)]

    def seed(self, *words: object) -> int:
        """A number derived from the secret and ``words``."""
        text = "|".join(str(word) for word in words).encode()
        return int(np.random.default_rng((self.secret, *text)).integers(1 << 62))


def _empty(case: Case) -> dict[str, Array]:
    return {item.name: np.zeros(item.shape, numpy_dtype(item.dtype)) for item in case.inputs}


def _made(
    item: Shaped, truth: Mapping[str, Array], honest: Sequence[Mapping[str, Array]]
) -> Answer:
    evaluations = tuple(one[item.name] for one in honest)
    return make_answer(item.name, truth[item.name], numpy_dtype(item.dtype), evaluations)
