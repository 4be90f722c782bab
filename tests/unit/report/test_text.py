"""Tables and numbers as text."""

import pytest

from kernelwright.report import text


def test_columns_align_and_nothing_trails():
    made = text.table(("a", "number"), [("long one", 1), ("b", 222)], right=" r")
    assert made.splitlines() == ["a         number", "long one       1", "b            222"]
    assert text.table(("a", "b"), [("x", "")]).splitlines()[1] == "x"


def test_words_beside_a_label_are_wrapped_below_themselves():
    assert text.labelled("checked", "a, b") == "checked    a, b"
    made = text.labelled("isolation", ", ".join(["no_new_privileges"] * 6)).splitlines()
    assert len(made) == 2
    assert made[1].startswith(" " * 11 + "no_new")
    assert max(map(len, made)) <= 80
    assert text.labelled("labels", "x" * 100) == f"labels     {'x' * 100}"


@pytest.mark.parametrize(
    ("microseconds", "shown"),
    [(0.7, "0.7 µs"), (999.4, "999 µs"), (1500, "1.5 ms"), (2e6, "2 s"), (123456, "123 ms")],
)
def test_duration_picks_the_unit(microseconds, shown):
    assert text.duration(microseconds) == shown


def test_a_ratio_comes_with_its_interval():
    assert text.ratio(1.239, 1.2, 1.3) == "1.24x [1.20, 1.30]"


@pytest.mark.parametrize(
    ("count", "shown"), [(512, "512 B"), (3 << 30, "3 GiB"), (1 << 41, "2 TiB"), (1536, "1.5 KiB")]
)
def test_memory(count, shown):
    assert text.bytes_(count) == shown


@pytest.mark.parametrize(("number", "said"), [(0, "0 looks"), (1, "1 look"), (2, "2 looks")])
def test_one_of_a_thing_is_not_many(number, said):
    assert text.count(number, "look") == said


@pytest.mark.parametrize(("share", "said"), [(0.012, "1%"), (0.99, "99%"), (13.54, ">100%")])
def test_a_margin_beyond_a_whole_says_only_that(share, said):
    assert text.margin(share) == said
