"""The tables about the judge itself say what the raw data says."""

import pytest

from benchmarks.truths.kinds import wanted
from scripts import truth_regions

SESSION = {
    "date": "2030-01-02T03:04:05+00:00",
    "command": "scripts/bench truth",
    "commit": "0123456789abcdef",
    "device": {"device": "cpu: Abacus", "threads": "2"},
    "versions": {"g++": "12", "python": "3.11", "numpy": "2"},
}


@pytest.fixture
def results(monkeypatch):
    def give(name, rows):
        data = {"sessions": [SESSION], "rows": {str(at): row for at, row in enumerate(rows)}}
        monkeypatch.setattr(truth_regions, "load", lambda asked: data if asked == name else None)

    return give


def compared(kind, share, decision, others=0.01):
    rows = [{"margin": 0.02}] if decision in truth_regions.DECISIONS else []
    return {"op": "softmax", "kind": kind, "share": share, "decision": decision,
            "comparisons": rows, "conditions": {"others": others}}  # fmt: skip


def test_nothing_measured_is_nothing_said(monkeypatch):
    monkeypatch.setattr(truth_regions, "load", lambda name: None)
    assert {make() for make in truth_regions.REGIONS.values()} == {""}


def test_false_claims_have_their_exact_interval(results):
    said = ["same"] * 290 + ["undecided"] * 7 + ["faster"] * 2 + ["slower"] + ["crashed"]
    results("truth/confirm", [compared("A/A", 0.0, one) for one in said])
    text = truth_regions.itself()
    assert "| softmax | quiet | 300 | 2 | 290 | 1 | 7 | 1.0% [0.2%, 2.9%] | 2.0% | 1 |" in text
    assert "Abacus, 2 threads" in text
    assert truth_regions.power() == truth_regions.simulations() == ""


def test_power_is_counted_on_either_side(results):
    results("truth/confirm", [
        *(compared("slower 5%", 0.05, one) for one in ("slower", "slower", "faster", "same")),
        *(compared("faster 1%", -0.01, one) for one in ("faster", "undecided")),
        compared("faster 1%", -0.01, "undecided", others=0.9),
    ])  # fmt: skip
    first, second, third = truth_regions.power().splitlines()[2:5]
    assert first == "| faster 1% | quiet | 2 | 50% [1%, 99%] | 0 | 0 | 1 |"
    assert second == "| slower 5% | quiet | 4 | 50% [7%, 93%] | 1 | 1 | 0 |"
    assert third == "| faster 1% | busy with other work | 1 | 0% [0%, 98%] | 0 | 0 | 1 |"


def test_simulations(results):
    row = {"kind": "simulated", "weather": "calm", "places": 8, "ratio": 1.05, "comparisons": 40,
           "covered": 39, "faster": 30, "same": 0, "slower": 0, "undecided": 10}  # fmt: skip
    results("truth/confirm", [row])
    assert "| calm | 8 | 1.05 | 40 | 97.5% | 30 | 0 | 0 | 10 |" in truth_regions.simulations()


def test_cost_is_in_shares_of_what_passed(results):
    spent = {"static and build": 1.0, "start": 0.5, "timing": 2.0, "validation": 0.5}
    rows = [{"rung": "full", "outcome": "passed", "parts_s": spent},
            {"rung": "full", "outcome": "crashed", "parts_s": {"timing": 99.0}}]  # fmt: skip
    results("cost/cost", rows)
    line = truth_regions.cost().splitlines()[2]
    assert line.startswith("| full | 1 | 4.00 | 25% | 12% |")
    assert line.endswith("| 50% | 12% |")


def test_faults_and_leftovers_are_counted(results):
    row = {"inputs": 10, "accepted": 4, "refused": 5, "faults": 1, "seconds": 2.4,
           "slowest_s": 0.126, "problems": ["input 3: KeyError"]}  # fmt: skip
    results("fuzz/fuzz", [row])
    assert "| 0 | 10 | 4 | 5 | 1 | 2 | 0.13 |" in truth_regions.fuzzed()
    kills = [{"command": "evaluate", "role": "worker", "hit": hit, "problems": bad}
             for hit, bad in ((True, []), (True, ["left"]), (False, []))]  # fmt: skip
    results("kills/kills", [{"kills": kills}])
    assert "| evaluate | worker | 2 | 1 |" in truth_regions.killed()


def test_every_kind_meets_every_hour():
    found = wanted(3, 2)
    assert len(found) == 3 + 2 * 10
    assert [kind for kind, _ in found].index("A/A") == 0
    assert found[11][0] == "A/A"
    assert found[-1] == ("A/A", 0.0)
    assert wanted(0, 1)[:2] == [("slower 1%", 0.01), ("faster 1%", -0.01)]
