"""Inputs and right answers for the cases of one task; the only friend of the oracle.

Holds what a candidate must never see. Honest errors (``e0``) need two more evaluations, a slow
serial one among them, so they are measured once a workload and reused for the fresh contents of
timed calls, whose distribution is the same.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernelwright.checks.answer import Answer, make_answer
from kernelwright.checks.controls import FEW_ELEMENTS
from kernelwright.checks.rounding import BITS, rounded
from kernelwright.evaluation.arena import Array, numpy_dtype
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.records.task import Case, Shaped, Task
from kernelwright.tasks import hostile, inputs
from kernelwright.tasks.fresh import Fresh

MORE_DRAWS = 7
LOOKED_AT = 4096
STEADY_SECONDS = 3.0
"""After which no further draw is begun: a large workload has its price."""
TRUTH_ONLY = ("truth",)
NATIVE_ONLY = ("native",)
HONEST = ("native", "serial")
ALL_PARTS = ("truth", *HONEST)


@dataclass(frozen=True)
class Question:
    """Contents shown to candidates, and what they should make of them."""

    case: Case
    contents: dict[str, Array]
    answers: list[Answer]

    @property
    def fair(self) -> bool:
        """Whether honest evaluations are finite wherever the right answer is."""
        return not any(answer.honest_misplaced for answer in self.answers)

    def whole(self) -> "Question":
        """The same, with equality demanded of outputs that every honest evaluation reproduced."""
        return replace(self, answers=[replace(a, whole=a.reproduced) for a in self.answers])


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
        self._questions: dict[str, Question | ReferenceFailure] = {}
        self._errors: dict[str, dict[str, tuple[float, float]]] = {}

    def base(self, case: Case) -> Question:
        """The session's question on one workload; also sets its honest errors.

        Raises:
            ReferenceFailure: the reference fails on it; the same holds for the other questions.
        """
        return self._once(case.workload, case, lambda seed: self.draw(case, seed), case.workload)

    def touched(self, case: Case) -> Question:
        """The session's question that differs little from the one before on that workload."""

        def contents(seed: int) -> dict[str, Array]:
            base = self.base(case).contents
            views = {name: values.copy() for name, values in base.items()}
            Fresh(case, base, seed).touch(views, np.random.default_rng(seed))
            return views

        noted = case.model_copy(update={"note": "nearly the inputs of the call before"})
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

    def _once(
        self,
        key: str,
        case: Case,
        make: Callable[[int], dict[str, Array]],
        known: str = "",
    ) -> Question:
        if key not in self._questions:
            try:
                contents = make(self.seed(key))
                answers = self._steady(case, self.answer(case, contents), key, make)
                self._questions[key] = Question(case, contents, answers)
                if known:
                    self._errors[known] = {a.name: (a.e0_largest, a.e0_rms) for a in answers}
            except ReferenceFailure as failure:
                self._questions[key] = failure
        found = self._questions[key]
        if isinstance(found, ReferenceFailure):
            raise found
        return found

    def _steady(
        self, case: Case, answers: list[Answer], key: str, make: Callable[[int], dict[str, Array]]
    ) -> list[Answer]:
        """Honest errors of outputs with few elements, or few values, from several draws.

        The error of one value is one sample: now and then it is nearly nothing, and an honest
        candidate would be held to that.
        """
        few = [a.name for a in answers if not a.exact and 0 < _values(a) < FEW_ELEMENTS]
        if not few:
            return answers
        relative = {a.name: _relative(a) for a in answers if not a.exact}
        until = time.monotonic() + STEADY_SECONDS
        for number in range(MORE_DRAWS):
            if time.monotonic() > until:
                break
            for other in self.answer(case, make(self.seed(key, number))):
                if other.name in few:
                    pair = zip(relative[other.name], _relative(other), strict=True)
                    relative[other.name] = tuple(max(one) for one in pair)
        return [
            _with_errors(a, (r[0] * a.scale_largest, r[1] * a.scale_rms))
            if a.name in few and (r := relative[a.name])
            else a
            for a in answers
        ]

    def draw(self, case: Case, seed: int) -> dict[str, Array]:
        """Fresh inputs of ``case``."""
        views = _empty(case)
        if any(item.values.kind == "given" for item in case.inputs):
            self.oracle.generate(seed, case, views)
        else:
            inputs.draw(case, seed, views)
        return views

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
            answers = [_made(item, truth, ()) for item in case.outputs]
            return [_with_errors(one, remembered[one.name]) for one in answers]
        found = self.oracle.truth(case, contents, ALL_PARTS)
        honest = [found["native"], found["serial"], *self._lower(case, contents)]
        return [_made(item, found["truth"], honest) for item in case.outputs]

    def honest(self, case: Case, contents: Mapping[str, Array]) -> list[dict[str, Array]]:
        """What honest arithmetic makes of ``contents``, evaluation by evaluation."""
        found = self.oracle.truth(case, contents, HONEST)
        return [*found.values(), *self._lower(case, contents)]

    def _lower(self, case: Case, contents: Mapping[str, Array]) -> list[dict[str, Array]]:
        """Native evaluations in each lower type that the task allows.

        Inputs are rounded to its mantissa, sums are made in the declared type, outputs are rounded
        again: what matrix units do.
        """
        evaluations = []
        for name in self.task.precision:
            bits = BITS[name]
            narrowed = {
                item.name: rounded(contents[item.name], bits)
                if "float" in item.dtype
                else contents[item.name]
                for item in case.inputs
            }
            found = self.oracle.truth(case, narrowed, NATIVE_ONLY)["native"]
            for item in case.outputs:
                if "float" in item.dtype:
                    found[item.name] = rounded(found[item.name], bits)
            evaluations.append(found)
        return evaluations

    def seed(self, *words: object) -> int:
        """A number derived from the secret and ``words``."""
        text = "|".join(str(word) for word in words).encode()
        return int(np.random.default_rng((self.secret, *text)).integers(1 << 62))


def _empty(case: Case) -> dict[str, Array]:
    return {item.name: np.zeros(item.shape, numpy_dtype(item.dtype)) for item in case.inputs}


def _values(answer: Answer) -> int:
    """How many different values an output holds, of a few thousand looked at."""
    step = max(1, answer.truth.size // LOOKED_AT)
    stored = answer.truth.reshape(-1)[::step].astype(answer.dtype)
    return int(np.unique(stored.astype(np.float64)).size)


def _relative(answer: Answer) -> tuple[float, ...]:
    largest, rms = answer.scale_largest or 1.0, answer.scale_rms or 1.0
    return answer.e0_largest / largest, answer.e0_rms / rms


def _made(
    item: Shaped, truth: Mapping[str, Array], honest: Sequence[Mapping[str, Array]]
) -> Answer:
    evaluations = tuple(one[item.name] for one in honest)
    return make_answer(item.name, truth[item.name], numpy_dtype(item.dtype), evaluations)


def _with_errors(answer: Answer, e0: tuple[float, float]) -> Answer:
    return replace(answer, e0_largest=e0[0], e0_rms=e0[1])
