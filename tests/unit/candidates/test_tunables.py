"""Spaces of tunables: order, constraints, formulas."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.candidates.tunables import space
from kernelwright.errors import HeaderError
from kernelwright.records.candidate import Header


def test_points_come_in_order_and_meet_the_constraints():
    header = Header(tune={"A": (1, 2, 4), "B": (8, 3)}, where=("N % A == 0", "A * B <= 12"))
    found = space(header, {"N": 6})
    assert list(found.points()) == [{"A": 1, "B": 8}, {"A": 1, "B": 3}, {"A": 2, "B": 3}]
    assert found.size == 6
    assert found.default() == {"A": 1, "B": 8}


def test_an_invalid_default_gives_way_to_the_first_valid_point():
    assert space(Header(tune={"A": (4, 2)}, where=("A < 3",)), {}).default() == {"A": 2}


def test_no_valid_point_is_empty():
    found = space(Header(tune={"A": (4, 2)}, where=("A > 9",)), {})
    assert found.default() == {}
    assert list(found.points()) == []


def test_nothing_to_tune_is_one_point():
    assert list(space(Header(), {"N": 1}).points()) == [{}]
    assert list(space(Header(where=("N > 1",)), {"N": 1}).points()) == []


def test_a_formula_is_one_value():
    found = space(Header(tune={"A": "next_pow2(N)", "B": (1, 2)}), {"N": 100})
    assert list(found.points()) == [{"A": 128, "B": 1}, {"A": 128, "B": 2}]


def test_texts_and_truth_values_are_values():
    header = Header(tune={"S": ("row", "column"), "F": (True, False)}, where=("not F",))
    assert list(space(header, {}).points()) == [
        {"S": "row", "F": False},
        {"S": "column", "F": False},
    ]


@pytest.mark.parametrize(
    ("point", "valid"),
    [
        ({"A": 2}, True),
        ({"A": 3}, False),
        ({"A": 8}, False),
        ({"A": 2, "B": 1}, False),
        ({}, False),
        ({"A": True}, False),
        ({"A": 1}, True),
        ({"A": 1.0}, False),
    ],
)
def test_validity(point, valid):
    assert space(Header(tune={"A": (1, 2, 8)}, where=("A < 5",)), {}).is_valid(point) is valid


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (Header(where=("K > 1",)), "mentions unknown 'K'"),
        (Header(tune={"S": ("row",)}, where=("S == 1",)), "mentions unknown 'S'"),
        (Header(tune={"A": "K + 1"}), "tunable 'A'.*'K' has no value"),
        (Header(tune={"A": "1 // 0"}), "tunable 'A'"),
        (Header(tune={"N": (1,)}), "tunable 'N' has the name of an axis"),
    ],
)
def test_what_cannot_be_evaluated_is_refused_at_once(header, message):
    with pytest.raises(HeaderError, match=message):
        space(header, {"N": 1})


def test_a_constraint_that_divides_by_zero_is_refused():
    found = space(Header(tune={"A": (1, 0)}, where=("N % A == 0",)), {"N": 4})
    with pytest.raises(HeaderError, match="where"):
        list(found.points())
    with pytest.raises(HeaderError, match="where"):
        found.is_valid({"A": 0})


def test_huge_spaces_are_walked_lazily():
    tune = {f"T{i}": tuple(range(200)) for i in range(30)}
    found = space(Header(tune=tune, where=("T0 == 199", "T29 > 197")), {})
    assert found.size == 200**30
    first = list(itertools.islice(found.points(), 3))
    assert [point["T29"] for point in first] == [198, 199, 198]
    assert first[2]["T28"] == 1


@given(
    st.dictionaries(
        st.sampled_from("ABC"),
        st.lists(st.integers(1, 9), min_size=1, max_size=4, unique=True),
        min_size=1,
    ),
    st.lists(st.sampled_from(["A > 3", "A * B < 20", "C != B", "A + C >= B"]), max_size=3),
)
def test_points_are_the_filtered_product(tune, rules):
    names = {"A", "B", "C"}
    rules = [rule for rule in rules if {c for c in rule if c in names} <= set(tune)]
    found = space(Header(tune={k: tuple(v) for k, v in tune.items()}, where=tuple(rules)), {})
    product = [dict(zip(tune, values, strict=True)) for values in itertools.product(*tune.values())]
    expected = [point for point in product if all(eval(rule, {}, dict(point)) for rule in rules)]
    assert list(found.points()) == expected
    assert all(found.is_valid(point) == (point in expected) for point in product)
