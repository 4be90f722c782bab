"""The values a candidate's tunables may take together, for one workload on one device.

Spaces can be huge: points are produced one by one, and a constraint prunes as soon as the names
it mentions are bound.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kernelwright import expressions
from kernelwright.errors import HeaderError
from kernelwright.plugins import nearest
from kernelwright.records.candidate import Header, Value

MOST_BARREN = 200_000
"""Partial points in a row that lead nowhere before a space counts as unsatisfiable."""
Point = dict[str, Value]


@dataclass(frozen=True)
class Space:
    """Choices and the constraints between them."""

    choices: dict[str, tuple[Value, ...]]
    """Values of each tunable, the preferred one first."""
    where: tuple[str, ...]
    values: dict[str, int | float]
    """Axes and facts of the device that the constraints may mention."""

    @property
    def size(self) -> int:
        """Combinations before the constraints."""
        return math.prod(len(values) for values in self.choices.values())

    def default(self) -> Point:
        """The first valid point; empty when there is none (or nothing to tune)."""
        return next(self.points(), {})

    def points(self) -> Iterator[Point]:
        """Every valid point, the last tunable varying fastest.

        Raises:
            HeaderError: a constraint cannot be evaluated, for example it divides by zero.
        """
        order = list(self.choices)
        due: list[list[str]] = [[] for _ in range(len(order) + 1)]
        for rule in self.where:
            mentioned = expressions.names(rule)
            due[max((order.index(n) + 1 for n in mentioned if n in order), default=0)].append(rule)

        barren = 0

        def extend(point: Point) -> Iterator[Point]:
            nonlocal barren
            bound = len(point)
            barren += 1
            if barren > MOST_BARREN:
                raise HeaderError(
                    f"where: no valid point among the last {MOST_BARREN} tried",
                    "loosen the constraints, or list fewer values",
                )
            if not all(self._holds(rule, point) for rule in due[bound]):
                return
            if bound == len(order):
                barren = 0
                yield dict(point)
                return
            for value in self.choices[order[bound]]:
                yield from extend({**point, order[bound]: value})

        return extend({})

    def is_valid(self, point: Mapping[str, Value]) -> bool:
        """Whether ``point`` names every tunable, with listed values that meet the constraints.

        Raises:
            HeaderError: a constraint cannot be evaluated.
        """
        return (
            point.keys() == self.choices.keys()
            and all(_listed(point[name], values) for name, values in self.choices.items())
            and all(self._holds(rule, point) for rule in self.where)
        )

    def _holds(self, rule: str, point: Mapping[str, Value]) -> bool:
        # Strings cannot be compared in an expression, but they may be in the point.
        bound = {name: value for name, value in point.items() if not isinstance(value, str)}
        try:
            return bool(expressions.evaluate(rule, {**self.values, **bound}))
        except expressions.ExpressionError as problem:
            raise HeaderError(f"where: {problem}") from problem


def space(header: Header, values: Mapping[str, int | float]) -> Space:
    """The space of a header's tunables.

    Args:
        header: from :func:`kernelwright.candidates.header.parse`.
        values: axes of the workload and facts of the device (``cores``, ``shared_memory``,
            ``warp``).

    Raises:
        HeaderError: a formula or a constraint mentions an unknown name, a formula cannot be
            evaluated, or a tunable has the name of an axis.
    """
    choices: dict[str, tuple[Value, ...]] = {}
    for name, value in header.tune.items():
        if name in values:
            raise HeaderError(f"tunable {name!r} has the name of an axis or a fact of the device")
        choices[name] = value if isinstance(value, tuple) else (_formula(name, value, values),)
    numeric = [name for name, listed in choices.items() if not isinstance(listed[0], str)]
    known = (*numeric, *values)
    for rule in header.where:
        for name in sorted(expressions.names(rule).difference(known)):
            raise HeaderError(f"where: {rule!r} mentions unknown {name!r}", nearest(name, known))
    return Space(choices, header.where, dict(values))


def _formula(name: str, text: str, values: Mapping[str, int | float]) -> Value:
    try:
        found = expressions.evaluate(text, values)
        if not math.isfinite(found):
            raise expressions.ExpressionError(f"{text!r} is not finite")
        return found
    except expressions.ExpressionError as problem:
        raise HeaderError(f"tunable {name!r}: {problem}") from problem


def _listed(value: Value, values: tuple[Value, ...]) -> bool:
    # True equals 1 in Python, not as a tunable.
    return any(value == item and type(value) is type(item) for item in values)
