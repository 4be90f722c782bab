"""Fresh contents: everything changes, within what the task declares."""

import numpy as np
import pytest

from kernelwright.records.task import DTYPES, Case, Shaped, Values
from kernelwright.tasks import inputs
from kernelwright.tasks.fresh import Fresh

GIVEN = Values(kind="given")
LABELS = Values(kind="integers", low=2, high=9)


def fresh_of(item, base=None, seed=3):
    case = Case(workload="w", device="cpu", inputs=(item,), outputs=(), scalars=(), axes={})
    if base is None:
        from kernelwright.evaluation.arena import numpy_dtype

        base = np.zeros(item.shape, numpy_dtype(item.dtype))
        inputs.draw(case, 1, {item.name: base})
    return Fresh(case, {item.name: base}, seed), base


def written(fresh, base, seed=5):
    view = base.copy()
    fresh.write({"x": view}, np.random.default_rng(seed))
    return view


def item_of(**fields):
    return Shaped(**({"name": "x", "shape": (70, 130), "dtype": "float32"} | fields))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_is_freshened_and_no_two_calls_are_alike(dtype):
    kind = Values(std=3.0) if "float" in dtype else Values(kind="integers", low=0, high=100)
    fresh, base = fresh_of(item_of(dtype=dtype, values=kind))
    states = [written(fresh, base, seed) for seed in range(3)]
    for one in states:
        assert (one != base).mean() > (0.4 if dtype in ("bool", "float8_e5m2") else 0.7)
    assert len({one.tobytes() for one in states}) == 3
    assert np.array_equal(written(fresh, base, 1), states[1])


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8"])
def test_few_integers_around_zero_are_drawn_as_they_were_first(dtype):
    values = Values(std=20.0, mean=40.0)
    fresh, base = fresh_of(item_of(shape=(16,), dtype=dtype, values=values))
    for seed in range(3):
        view = written(fresh, base, seed)
        assert np.count_nonzero(view) > 12
        assert not np.array_equal(view, base)


@pytest.mark.parametrize("values", [Values(), Values(mean=9.0), Values(kind="uniform", high=5)])
def test_what_a_chunk_amounts_to_is_no_table_of_one_place(values):
    """Every factor is a product of two that lie elsewhere at each call."""
    fresh, base = fresh_of(item_of(shape=(1 << 16,), values=values), np.ones(1 << 16, np.float32))
    one, other = written(fresh, base, 1), written(fresh, base, 2)
    pool = fresh._pools._pool("signed" if values.kind == "normal" and not values.mean else "gentle")
    windows = np.lib.stride_tricks.sliding_window_view(pool, 64)
    for view in (one, other):
        ratios = windows / view[:64]
        assert not (np.abs(ratios / ratios[:, :1] - 1) < 1e-4).all(axis=1).any()


def test_the_sum_of_values_around_zero_moves_with_a_common_factor():
    fresh, base = fresh_of(item_of(shape=(1 << 16,)))
    sizes = [float(np.abs(written(fresh, base, seed)).mean()) for seed in range(8)]
    assert max(sizes) / min(sizes) > 1.1


@pytest.mark.parametrize("shape", [(64, 700), (900, 3), (300_000,), (5, 3, 2), (1,)])
@pytest.mark.parametrize("values", [Values(), Values(mean=2.0), Values(kind="uniform", high=5)])
def test_nearly_every_element_of_a_float_tensor_changes(shape, values):
    fresh, base = fresh_of(item_of(shape=shape, values=values))
    view = written(fresh, base)
    assert (view != base).mean() > 0.99
    assert 0.5 < (np.abs(view).mean() + 0.1) / (np.abs(base).mean() + 0.1) < 2


def test_uniform_values_stay_below_the_end_of_their_range():
    values = Values(kind="uniform", low=-1.0, high=1.0)
    base = np.full((5000,), np.nextafter(np.float32(1), np.float32(0)))
    fresh, _ = fresh_of(item_of(shape=(5000,), values=values), base)
    view = written(fresh, base)
    assert view.max() < 1
    assert view.min() >= -1


def test_given_values_keep_their_zeros_and_their_range():
    base = np.triu(np.random.default_rng(0).random((90, 90), dtype=np.float32))
    fresh, _ = fresh_of(item_of(shape=(90, 90), values=GIVEN), base)
    view = written(fresh, base)
    assert np.array_equal(view == 0, base == 0)
    assert view.max() <= base.max()
    assert (view != base)[base != 0].mean() > 0.9


@pytest.mark.parametrize(
    ("dtype", "base"),
    [
        ("int64", np.arange(3000)),
        ("float32", (np.arange(9000) % 2).astype(np.float32)),
        ("bool", np.arange(3000) % 3 == 0),
    ],
)
def test_codes_that_the_task_makes_are_not_changed_by_hand(dtype, base):
    fresh, _ = fresh_of(item_of(dtype=dtype, shape=base.shape, values=GIVEN), base)
    assert fresh.touchable() == ()
    assert np.array_equal(written(fresh, base), base)


@pytest.mark.parametrize("size", [1, 7, 3000])
def test_labels_change_within_their_range(size):
    fresh, base = fresh_of(item_of(dtype="int64", shape=(size,), values=LABELS))
    states = [written(fresh, base, seed) for seed in range(20)]
    assert any((one != base).any() for one in states)
    assert all(one.min() >= 2 and one.max() <= 8 for one in states)


def test_a_strided_view_gets_what_a_dense_one_gets():
    fresh, base = fresh_of(item_of(shape=(80, 60)))
    wide = np.zeros((80, 130), np.float32)
    gapped = wide[:, :120:2]
    fresh.write({"x": gapped}, np.random.default_rng(9))
    assert np.array_equal(written(fresh, base, 9), gapped)
    assert (wide[:, 1::2] == 0).all()


@pytest.mark.parametrize("values", [Values(), Values(kind="uniform", high=5), LABELS])
def test_a_touch_changes_few_elements_and_leaves_the_rest(values):
    dtype = "int64" if values is LABELS else "float32"
    fresh, base = fresh_of(item_of(dtype=dtype, shape=(90, 700), values=values))
    view = written(fresh, base)
    before = view.copy()
    fresh.touch({"x": view}, np.random.default_rng(2))
    assert 0 < (view != before).sum() <= base.size // 512


def test_an_empty_tensor_is_no_trouble():
    fresh, base = fresh_of(item_of(shape=(0, 4)))
    assert written(fresh, base).shape == (0, 4)


@pytest.mark.parametrize(("dtype", "high"), [("int32", 8), ("bool", 2), ("uint8", 200)])
def test_counts_of_values_change_whatever_the_order(dtype, high):
    values = Values(kind="integers", low=0, high=high)
    fresh, base = fresh_of(item_of(dtype=dtype, shape=(300_000,), values=values))
    states = [np.bincount(written(fresh, base, seed), minlength=high) for seed in range(4)]
    assert len({one.tobytes() for one in (*states, np.bincount(base, minlength=high))}) == 5
    assert all(one.min() > 0.8 * base.size / high for one in states)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float8_e4m3fn"])
@pytest.mark.parametrize("values", [Values(mean=2.0), Values(kind="uniform", high=5)])
def test_a_long_sum_changes_as_between_two_draws(dtype, values):
    fresh, base = fresh_of(item_of(dtype=dtype, shape=(300_000,), values=values))
    wide = base.astype(np.float64)
    sums = [written(fresh, base, seed).astype(np.float64).sum() for seed in range(8)]
    between = wide.std() * wide.size**0.5
    assert np.std(sums) > between / 4
    assert abs(np.mean(sums) - wide.sum()) < 3 * between


def test_places_are_kept_where_the_task_draws():
    base = np.random.default_rng(0).uniform(1, 2, 90_000).astype(np.float32)
    fresh, _ = fresh_of(item_of(shape=(90_000,), values=GIVEN), base)
    view = written(fresh, base)
    assert np.allclose(view, base, rtol=2.0**-5)
    assert (view != base).mean() > 0.9
