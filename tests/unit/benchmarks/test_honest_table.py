"""The table of honest kernels says how many passed, in each language and of mere wraps."""

from importlib import import_module

import pytest

from benchmarks.record import ROOT


@pytest.fixture
def honest(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return import_module("honest")


def row(outcome="passed", **more):
    return {"outcome": outcome, "reason": "", "comparisons": [{"ratio": 1.25}]} | more


def test_languages_and_wraps_are_counted(honest):
    rows = {
        "softmax/tiles": row(),
        "softmax/lanes": row(outcome="wrong_values", language="cpp", wraps=""),
        "softmax/one-call": row(language="torch", wraps="softmax"),
        "softmax/online": row(language="torch", wraps=""),
    }
    lines = honest.table(rows).splitlines()
    assert "| softmax/one-call | torch | softmax | passed | 1.25 |" in lines
    assert "| softmax/tiles | cpp |  | passed | 1.25 |" in lines
    assert lines[-4:] == [
        "3 of 4 honest kernels passed",
        "1 of 2 honest kernels in cpp passed",
        "2 of 2 honest kernels in torch passed",
        "1 of 1 honest kernels that wrap one operator passed",
    ]


def test_a_file_says_on_its_first_line_what_it_wraps(honest):
    found = {one.name: one for one in honest.corpus.kernels()}
    assert found["softmax/one-call"].wraps == "softmax"
    assert found["softmax/online-dataclass"].wraps == ""
    assert found["softmax/online-dataclass"].language == "torch"
    assert found["softmax/vector-library"].language == "cpp"
