"""Edge and hidden shapes: few, small, and only where the task frees an axis."""

from __future__ import annotations

import math

import pytest

from kernelwright.records.task import Tensor
from kernelwright.tasks import edges, suites
from kernelwright.tasks.contract import resolve, workload
from kernelwright.tasks.load import load_task


def task_of(name):
    return load_task(name, inspector=lambda request: request)


@pytest.mark.parametrize("name", suites.names())
def test_edges_are_few_and_small_and_meet_zero_one_and_tiles(name):
    task = task_of(name)
    cases = edges.edge_cases(task, "cpu")
    assert 8 <= len(cases) <= edges.MAX_CASES + len(task.scalars)
    assert len({one.workload for one in cases}) == len(cases)
    fixed = {axis for axis, kind in task.axes.items() if kind == "fixed"}
    smoke = workload(task, "cpu", "smoke")
    for case in cases:
        assert all(case.axes[axis] == smoke.axes[axis] for axis in fixed)
        assert case.note
        tensors = (*case.inputs, *case.outputs)
        assert sum(math.prod(one.shape) for one in tensors) <= edges.MAX_ELEMENTS
        labels = [one for one in case.inputs if one.values.kind == "integers"]
        assert all(one.values.high > one.values.low or 0 in one.shape for one in labels)
    for axis in set(task.axes) - fixed:
        sizes = {case.axes[axis] for case in cases}
        assert 1 in sizes
        assert max(sizes) > 16
        if not (name == "cross_entropy" and axis == "V"):
            assert 0 in sizes
    assert sum(case.alignment < 64 for case in cases) == 1
    assert not any(case.alignment < 64 for case in edges.edge_cases(task, "gpu"))


def test_a_task_without_free_axes_has_none():
    task = task_of("matmul")
    closed = task.model_copy(update={"axes": dict.fromkeys(task.axes, "fixed")})
    assert edges.edge_cases(closed, "cpu") == []
    assert edges.hidden_cases(closed, "cpu", 1) == []
    none = task.model_copy(update={"workloads": ()})
    assert edges.edge_cases(none, "cpu") == []


def test_many_numbers_take_no_shapes_away():
    task = task_of("linear_relu_div")
    (scalar,) = task.scalars
    more = [scalar.model_copy(update={"name": f"{scalar.name}{number}"}) for number in range(20)]
    few = edges.edge_cases(task, "cpu")
    many = edges.edge_cases(task.model_copy(update={"scalars": tuple(more)}), "cpu")
    assert len(many) == len(few) + 19
    assert [case.axes for case in few[:-1]] == [case.axes for case in many[: len(few) - 1]]


def test_every_number_that_is_passed_has_another_value_once():
    task = task_of("linear_relu_div")
    (scalar,) = task.scalars
    closed = task.model_copy(update={"axes": dict.fromkeys(task.axes, "fixed")})
    for cases in (edges.edge_cases(task, "cpu"), edges.edge_cases(closed, "cpu")):
        (other,) = (one for one in cases if one.scalars[0].value != scalar.value)
        assert other.note == f"edge {scalar.name}={2 * scalar.value + 1:g}"


@pytest.mark.parametrize(
    ("dtype", "value", "other", "shown"),
    [
        ("float32", -1.0, 0.0, "0"),
        ("float64", 0.5, 2.0, "2"),
        ("int64", 3, 4, "4"),
        ("int64", 1_000_000, 1_000_001, "1000001"),
        ("int32", 1, 0, "0"),
        ("bool", True, False, "0"),
        ("bool", False, True, "1"),
    ],
)
def test_whole_numbers_and_truth_values_are_varied_too(dtype, value, other, shown):
    task = task_of("linear_relu_div")
    (scalar,) = task.scalars
    given = scalar.model_copy(update={"dtype": dtype, "value": value})
    closed = {"axes": dict.fromkeys(task.axes, "fixed"), "scalars": (given,)}
    (case,) = edges.edge_cases(task.model_copy(update=closed), "cpu")
    assert case.scalars[0].value == other
    assert case.note == f"edge {scalar.name}={shown}"


def test_declared_strides_are_tried():
    task = task_of("softmax")
    x = Tensor(name="x", dtype="T", shape=("M", "N"), strided=True)
    cases = edges.edge_cases(task.model_copy(update={"inputs": (x,)}), "cpu")
    assert len(cases) <= edges.MAX_CASES
    (gapped,) = [case for case in cases if case.inputs[0].strides is not None]
    rows, columns = gapped.inputs[0].shape
    outer, inner = gapped.inputs[0].strides
    assert inner > 1
    assert outer > columns * inner
    assert rows > 1
    assert gapped.outputs[0].strides is None


@pytest.mark.parametrize("name", suites.names())
def test_hidden_shapes_are_near_secret_neighbours(name):
    task = task_of(name)
    main = resolve(task, workload(task, "cpu"))
    seen = set()
    for seed in range(20):
        cases = edges.hidden_cases(task, "cpu", seed)
        assert cases == edges.hidden_cases(task, "cpu", seed)
        assert len(cases) == 2
        for case in cases:
            seen.add(tuple(case.axes.values()))
            assert case.axes != main.axes
            for axis, size in case.axes.items():
                if task.axes[axis] == "fixed":
                    assert size == main.axes[axis]
                else:
                    assert abs(size - main.axes[axis]) <= max(2, main.axes[axis] * 0.2 + 1)
                    assert size >= 1
    assert len(seen) > 10
