"""What a task's own code makes: drawn whole again, then combined, and never broken."""

import ml_dtypes
import numpy as np
import pytest

from kernelwright.records.task import Case, Shaped, Values
from kernelwright.tasks import draws
from kernelwright.tasks.draws import Draws
from kernelwright.tasks.fresh import Fresh

GIVEN = Values(kind="given")
LONG = 300_000


def of(make, seed=3):
    """Fresh contents of inputs that ``make`` draws from a generator, and the first draw."""

    def draw(number):
        return make(np.random.default_rng(number))

    first = draw(0)
    items = tuple(
        Shaped(name=name, shape=one.shape, dtype=one.dtype.name, values=GIVEN)
        for name, one in first.items()
    )
    case = Case(workload="w", device="cpu", inputs=items, outputs=(), scalars=(), axes={})
    made = Draws(draw, tuple(first), first)
    return Fresh(case, first, seed, made), first, made


def written(fresh, first, seed=5, change="write"):
    views = {name: one.copy() for name, one in first.items()}
    getattr(fresh, change)(views, np.random.default_rng(seed))
    return views


def exhausted(make, kept, monkeypatch):
    """The same once drawing took its time, with so many draws kept."""
    found = of(make)
    for seed in range(kept):
        written(found[0], found[1], 100 + seed)
    monkeypatch.setattr(found[2], "_left_s", 0.0)
    return found


def positive(random):
    return {"x": random.random(LONG, dtype=np.float32)}


def symmetric(random):
    half = random.standard_normal((70, 70), dtype=np.float32)
    return {"x": (half + half.T) / 2}


def ascending(random):
    return {"x": np.sort(random.standard_normal((3, 90), dtype=np.float32), axis=1)}


def normalised(random):
    rows = random.random((40, 90), dtype=np.float32)
    return {"x": rows / rows.sum(axis=1, keepdims=True)}


def triangular(random):
    return {"x": np.tril(random.uniform(1, 2, (70, 70)).astype(np.float32))}


def stays(name, view):
    """What each of the makers above promises."""
    wide = view.astype(np.float64)
    return {
        "symmetric": np.array_equal(view, np.swapaxes(view, -1, -2)),
        "ascending": bool((np.diff(wide, axis=-1) >= 0).all()),
        "normalised": bool((np.abs(wide.sum(axis=-1) - 1) < 1e-5).all()),
        "triangular": bool((np.triu(wide, 1) == 0).all() and wide[0, 0] >= 1),
    }[name]


def test_a_long_sum_changes_as_between_two_draws_whoever_drew(monkeypatch):
    between = 12**-0.5 * LONG**0.5
    late, first, _ = exhausted(positive, 5, monkeypatch)
    for fresh in (of(positive)[0], late):
        sums = [written(fresh, first, seed)["x"].astype(np.float64).sum() for seed in range(9)]
        assert np.std(sums) > between / 4
    assert len({written(late, first, seed)["x"].tobytes() for seed in range(9)}) == 9


@pytest.mark.parametrize("make", [symmetric, ascending, normalised, triangular])
def test_structures_are_kept_by_new_draws_and_by_combinations(make, monkeypatch):
    late, first, known = exhausted(make, 4, monkeypatch)
    for fresh in (of(make)[0], late):
        states = [written(fresh, first, seed)["x"] for seed in range(6)]
        assert all(stays(make.__name__, one) for one in states)
        assert len({one.tobytes() for one in (*states, first["x"])}) == 7
    assert known.repeated == 0


@pytest.mark.parametrize("make", [symmetric, ascending, normalised])
def test_what_the_code_makes_alike_whatever_the_seed_keeps_its_structure(make):
    fresh, first, known = of(lambda _: make(np.random.default_rng(1)))
    states = [written(fresh, first, seed)["x"] for seed in range(5)]
    assert known.constant
    assert all(np.array_equal(one, first["x"]) for one in states)
    assert known.repeated == 5
    assert known.at_hand == 1


def test_what_the_code_makes_alike_gets_factors_where_it_has_no_structure():
    fresh, first, known = of(lambda _: positive(np.random.default_rng(1)))
    for seed in range(5):
        view = written(fresh, first, seed)["x"]
        assert (view != first["x"]).mean() > 0.9
        assert np.allclose(view, first["x"], rtol=2.0**-5)
    assert known.constant
    assert known.repeated == 0


def test_an_input_that_does_not_vary_gets_factors_beside_one_that_does():
    weight = np.random.default_rng(1).standard_normal(900).astype(np.float32)
    fresh, first, _ = of(lambda random: {**positive(random), "w": weight.copy()})
    for seed in range(3):
        views = written(fresh, first, seed)
        assert (views["w"] != weight).mean() > 0.9
        assert np.allclose(views["w"], weight, rtol=2.0**-5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "float8_e4m3fn"])
def test_a_combination_lies_between_two_draws_in_every_type(dtype):
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    random = np.random.default_rng(2)
    one, other = (random.standard_normal((900, 100)).astype(kind) for _ in range(2))
    found = draws.combined(one, other, 0.3)
    assert found.dtype == kind
    wide, low, high = (
        each.astype(np.float64) for each in (found, np.minimum(one, other), np.maximum(one, other))
    )
    assert ((low <= wide) & (wide <= high)).all()
    expected = 0.3 * one.astype(np.float64) + 0.7 * other.astype(np.float64)
    assert np.abs(wide - expected).max() <= 4 * float(ml_dtypes.finfo(kind).eps)


def test_nothing_lies_between_infinities():
    one = np.array([-np.inf, -np.inf, 1, np.nan, np.inf], np.float32)
    other = np.array([-np.inf, np.inf, -np.inf, 2, 3], np.float32)
    found = draws.combined(one, other, 0.5)
    assert np.array_equal(found, [-np.inf, -np.inf, 1, np.nan, np.inf], equal_nan=True)


def test_infinities_of_a_mask_outlive_factors():
    mask = np.triu(np.full((70, 70), -np.inf, np.float32), 1)
    slopes = np.tril(np.random.default_rng(1).standard_normal((70, 70), dtype=np.float32))
    fresh, first, _ = of(lambda _: {"x": mask + slopes})
    view = written(fresh, first)["x"]
    assert np.array_equal(np.isneginf(view), np.isneginf(mask))
    assert (view != first["x"]).any()


def test_draws_with_other_zeros_are_not_combined(monkeypatch):
    def sparse(random):
        rows = random.uniform(1, 2, (60, 4, 64)).astype(np.float32)
        rows[:, ::2] = 0
        return {"x": random.permuted(rows, axis=1)}

    late, first, _ = exhausted(sparse, 4, monkeypatch)
    for change in ("write", "touch"):
        for seed in range(4):
            view = written(late, first, seed, change)["x"]
            assert ((view == 0).sum(axis=1) == 2).all()
            assert not np.array_equal(view, first["x"])


def test_codes_are_drawn_whole_and_later_come_again(monkeypatch):
    def make(random):
        return {"x": random.permutation(3000), "m": (random.random(900) < 0.5).astype(np.float32)}

    late, first, known = exhausted(make, 3, monkeypatch)
    fresh, _, other = of(make)
    for seed in range(4):
        views = written(fresh, first, seed, "touch" if seed % 2 else "write")
        assert sorted(views["x"]) == list(range(3000))
        assert set(views["m"]) == {0, 1}
        assert not np.array_equal(views["x"], first["x"])
    assert other.repeated == 0
    states = [written(late, first, seed)["x"] for seed in range(20)]
    assert all(sorted(one) == list(range(3000)) for one in states)
    assert len({one.tobytes() for one in states}) <= known.at_hand == 4
    assert known.repeated == 20


def test_few_elements_change_only_where_nothing_breaks(monkeypatch):
    def make(random):
        return {**symmetric(random), "b": random.standard_normal(5000).astype(np.float32)}

    fresh, first, _ = of(make)
    assert fresh.touchable() == ("b",)
    views = written(fresh, first, change="touch")
    assert np.array_equal(views["x"], first["x"])
    assert 0 < (views["b"] != first["b"]).sum() <= 5000 // 512
    alone, first, _ = of(symmetric)
    view = written(alone, first, change="touch")["x"]
    assert stays("symmetric", view)
    assert (view != first["x"]).mean() > 0.9


def test_drawing_is_bounded_and_other_buffers_get_a_little_more(monkeypatch):
    calls = []
    first = {"x": np.zeros(3)}

    def draw(seed):
        calls.append(seed)
        return {"x": np.full(3, float(seed % 2**20))}

    random = np.random.default_rng(0)
    monkeypatch.setattr(draws, "SECONDS", 0.0)
    some = Draws(draw, ("x",), first)
    assert [some.next(random).new for _ in range(5)] == [True, *[False] * 4]
    assert len(calls) == 1
    again = some.next(random)
    assert {again.contents["x"][0], again.other["x"][0]} == {0.0, calls[0] % 2**20}
    assert draws.SHARES[0] <= again.share <= draws.SHARES[1]
    some.begin()
    assert some.next(random).new
    monkeypatch.setattr(some, "_last_s", 2 * draws.MORE_SECONDS)
    some.begin()
    assert not some.next(random).new


def test_what_is_kept_is_bounded_and_one_draw_is_kept_in_any_case(monkeypatch):
    for room, kept in ((0, 1), (3 * 4 * LONG, 3)):
        monkeypatch.setattr(draws, "KEPT_BYTES", room)
        _, _, known = exhausted(positive, 5, monkeypatch)
        assert known.at_hand == 1 + kept


def test_drawing_is_given_up_where_nothing_changes():
    first = {"x": np.array([0.0, np.nan, np.inf])}
    same = Draws(lambda seed: {"x": first["x"].copy()}, ("x",), first)
    for _ in range(draws.ALIKE):
        assert not same.constant
        same.next(np.random.default_rng(0))
    assert same.constant
    assert same.next(np.random.default_rng(0)).contents is first
