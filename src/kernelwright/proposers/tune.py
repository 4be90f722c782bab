"""Numbers of any candidate, searched by Optuna's TPE: one study a structure, asked and told.

A structure is a source in a language; it is tuned when the search offers one of its candidates as
a parent. A proposal is always a valid point of the space that was never tried; a space that is
small enough to be listed is exhausted exactly. A point that failed is remembered as the worst.

The study is rebuilt from what was told before every proposal, because a point climbs rungs: TPE
learns the highest it reached and its score there (a pruned trial with its intermediate values),
and a trial cannot be told twice. That also makes an answer a function of what was told and the
seed. The price is about 0.1 ms a trial.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.candidates.tunables import Space, space
from kernelwright.proposers.base import Context, seed_from
from kernelwright.records.candidate import Candidate, Value
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.rung import Rung

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

LISTED = 4096
"""Spaces of at most this many combinations are listed."""
STARTUP = 8
"""Points of a structure before TPE guides the choice."""
MOST_TRIALS = 300
"""Trials a study is rebuilt from, the latest first kept."""
WALKS = 200
"""Steps towards a suggestion that cannot be used, in a space too large to list."""

Key = tuple[int, ...]
"""A point as one index a tunable."""


@dataclass
class _Tried:
    """What is known of one point."""

    scores: dict[Rung, float] = field(default_factory=dict)
    failed: bool = False


class _Structure:
    """One study: the points tried and those left."""

    def __init__(self, candidate: Candidate, values: Mapping[str, int | float]) -> None:
        self.space: Space = space(candidate.header, values)
        self.choices = {name: _ordered(listed) for name, listed in self.space.choices.items()}
        self.open = {name: listed for name, listed in self.choices.items() if len(listed) > 1}
        self.tried: dict[Key, _Tried] = {}
        self.asked = 0
        self.exhausted = not self.open

    @cached_property
    def points(self) -> list[Key] | None:
        """Every valid point, or None when the space is too large to list."""
        if self.space.size > LISTED:
            return None
        return [self.key(point) for point in islice(self.space.points(), LISTED)]

    def key(self, point: Mapping[str, Value]) -> Key:
        """The point as indices; a value that is not listed raises ValueError."""
        return tuple(_index(listed, point[name]) for name, listed in self.choices.items())

    def point(self, key: Key) -> dict[str, Value]:
        """The values of a key."""
        return {
            name: listed[at] for (name, listed), at in zip(self.choices.items(), key, strict=True)
        }

    def is_new(self, key: Key) -> bool:
        """Whether the point is valid and untried."""
        return key not in self.tried and self.space.is_valid(self.point(key))


class Tune:
    """Proposes neighbours of whatever the search thinks worth mutating."""

    coarse = False

    def __init__(self, context: Context) -> None:
        self._context = context
        self._structures: dict[tuple[str, str], _Structure] = {}

    def ask(self, parents: Sequence[Candidate]) -> Candidate | None:
        """A new point of the first parent that has one left."""
        for parent in parents:
            structure = self._structure(parent)
            key = None if structure.exhausted else self._next(structure, parent)
            if key is None:
                structure.exhausted = True
                continue
            structure.tried[key] = _Tried()
            return make_candidate(
                parent.source,
                parent.language,
                structure.point(key),
                author="tune",
                parents=(parent.id,),
                origin=parent.origin,
            )
        return None

    def tell(self, candidate: Candidate, evaluation: Evaluation) -> None:
        """Learn a point's score at a rung, or that it failed."""
        structure = self._structure(candidate)
        try:
            tried = structure.tried.setdefault(structure.key(candidate.tunables), _Tried())
        except (KeyError, ValueError):
            # A user's file may hold values outside its own list; they teach nothing of the space.
            return
        score = self._context.score(evaluation)
        if score is not None:
            tried.scores[evaluation.rung] = score
        elif not evaluation.passed:
            tried.failed = True

    def _structure(self, candidate: Candidate) -> _Structure:
        key = (candidate.language, candidate.source)
        if key not in self._structures:
            self._structures[key] = _Structure(candidate, self._context.values)
        return self._structures[key]

    def _next(self, structure: _Structure, parent: Candidate) -> Key | None:
        listed = structure.points
        left = None if listed is None else [key for key in listed if key not in structure.tried]
        if left is not None and len(left) < 2:
            return left[0] if left else None
        structure.asked += 1
        seed = seed_from(self._context.seed, parent.language, parent.source, structure.asked)
        wish = _suggest(structure, seed)
        if structure.is_new(wish):
            return wish
        if left is not None:
            return min(left, key=lambda key: (_distance(structure, key, wish), key))
        if not structure.tried:
            structure.tried[structure.key(structure.space.default())] = _Tried()
        return _walk(structure, wish, random.Random(seed))


def _suggest(structure: _Structure, seed: int) -> Key:
    """What TPE would try next; may be invalid or used."""
    import optuna

    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP)
    said = optuna.logging.get_verbosity()
    # The study lives for one call; that it was created is nobody's business.
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = optuna.create_study(direction="maximize", sampler=sampler)
    finally:
        optuna.logging.set_verbosity(said)
    space_ = _distributions(structure)
    told = [item for item in structure.tried.items() if item[1].scores or item[1].failed]
    study.add_trials(_trial(structure, space_, key, tried) for key, tried in told[-MOST_TRIALS:])
    asked = study.ask(space_).params
    return tuple(asked.get(name, 0) if name in structure.open else 0 for name in structure.choices)


def _distributions(structure: _Structure) -> "dict[str, BaseDistribution]":
    from optuna.distributions import CategoricalDistribution, IntDistribution

    return {
        name: IntDistribution(0, len(listed) - 1)
        if _is_numeric(listed)
        else CategoricalDistribution(range(len(listed)))
        for name, listed in structure.open.items()
    }


def _trial(
    structure: _Structure, space_: "dict[str, BaseDistribution]", key: Key, tried: _Tried
) -> "FrozenTrial":
    from optuna.trial import TrialState, create_trial

    indices = dict(zip(structure.choices, key, strict=True))
    # TPE ranks a pruned trial by the last step it reached, then by its value there; one without
    # values, a failure, comes last.
    reached = {} if tried.failed else {int(rung): score for rung, score in tried.scores.items()}
    return create_trial(
        state=TrialState.PRUNED,
        params={name: indices[name] for name in structure.open},
        distributions=space_,
        intermediate_values=reached,
    )


def _distance(structure: _Structure, key: Key, wish: Key) -> float:
    """How far apart two points are, each tunable counting at most 1."""
    total = 0.0
    for listed, left, right in zip(structure.choices.values(), key, wish, strict=True):
        if left != right:
            total += abs(left - right) / (len(listed) - 1) if _is_numeric(listed) else 1.0
    return total


def _walk(structure: _Structure, wish: Key, chance: random.Random) -> Key | None:
    """A new point between the nearest tried one and the wish, or None after :data:`WALKS` steps.

    Every step stays among valid points: where constraints leave few, chance alone finds none.
    """
    sizes = [len(listed) for listed in structure.choices.values()]
    movable = [at for at, size in enumerate(sizes) if size > 1]
    known = min(structure.tried, key=lambda key: (_distance(structure, key, wish), key))
    here = list(known)
    for _ in range(WALKS):
        at = chance.choice(movable)
        before = here[at]
        here[at] = wish[at] if chance.random() < 0.5 else chance.randrange(sizes[at])
        if structure.is_new(tuple(here)):
            return tuple(here)
        if not structure.space.is_valid(structure.point(tuple(here))):
            here[at] = before
    return None


def _ordered(listed: tuple[Value, ...]) -> tuple[Value, ...]:
    """Numbers by size, so that neighbours are neighbours; anything else as written."""
    if not _is_numeric(listed):
        return listed
    return tuple(sorted(listed, key=lambda value: (float(value), str(type(value)))))


def _is_numeric(listed: tuple[Value, ...]) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in listed)


def _index(listed: tuple[Value, ...], value: Value) -> int:
    for at, item in enumerate(listed):
        if item == value and type(item) is type(value):
            return at
    raise ValueError(f"{value!r} is not listed")
