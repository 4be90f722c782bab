"""Tables say what the raw data says, and where torch wins they say that."""

import json
from xml.etree import ElementTree as ET

import pytest

from scripts import figures, rawdata, regions

SESSION = {
    "date": "2030-01-02T03:04:05+00:00",
    "command": "scripts/bench core_suite",
    "commit": "0123456789abcdef",
    "device": {"device": "cpu: Abacus", "threads": "2"},
    "versions": {"g++": "12", "python": "3.11", "numpy": "2", "torch": "2.9"},
}


def compared(baseline, ratio, decision):
    return {
        "baseline": baseline, "workload": "main", "ratio": ratio, "low": ratio * 0.9,
        "high": ratio * 1.1, "decision": decision, "margin": 0.02, "pairs": 30,
    }  # fmt: skip


def row(status, ratio, decision):
    return {
        "status": status,
        "best": {"strategy": "tiles: small", "origin": "", "tunables": {"B": 8}},
        "confirmed": {
            "comparisons": [compared("loop", 9.0, "faster"), compared("fused", ratio, decision)],
            "evidence": {"strongest": "fused"},
            "roofline": {"fraction": 0.5, "bound": "bandwidth", "floor_us": 1.0},
        },
        "moments_s": {"first_led": 7.0, "confirmed": 20.0},
        "counts": {"measured": 12},
        "device_s_by_rung": {"draft": 0.0, "full": 3.0, "confirm": 1.0},
    }


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.setattr(rawdata, "RESULTS", tmp_path)

    def write(name, settings, rows):
        path = tmp_path / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"settings": settings, "sessions": [SESSION], "rows": rows}))

    return write


def test_nothing_measured_is_nothing_said(results):
    assert {make() for make in regions.REGIONS.values()} == {""}
    assert figures.shown() == ""
    assert figures.made() == {}


def test_the_headline_is_over_the_strongest_and_torch_may_win(results):
    results(
        "core_suite/with-torch",
        {"minutes": 1},
        {"a": row("improved", 1.5, "faster"), "b": row("no_improvement", 0.5, "slower")},
    )
    text = regions.core("with-torch")
    assert "| a | fused | 1.50x [1.35, 1.65] | faster | 50% of bandwidth | 7 | 12 |" in text
    assert "| b | fused | 0.50x [0.45, 0.55] | torch wins |" in text
    assert "9.00x" not in text
    assert "Abacus, 2 threads" in text
    assert "9.00x" in regions.every_ratio("with-torch")
    assert "full 75%, confirm 25%" in regions.winners("with-torch")


def test_a_gain_that_the_run_did_not_claim_is_not_claimed(results):
    results("core_suite/with-torch", {"minutes": 1}, {"a": row("no_improvement", 1.5, "faster")})
    assert "not claimed" in regions.core("with-torch")


def test_a_task_without_a_confirmed_candidate_has_a_line(results):
    lost = row("budget", 1.0, "same") | {"confirmed": None, "best": None}
    results("core_suite/without-torch", {"minutes": 1}, {"a": lost})
    assert "| a | – | – | budget |" in regions.core("without-torch")
    assert "| a | budget | – | – |" in regions.winners("without-torch")


def test_the_figure_is_well_formed(results):
    shown = row("improved", 1.5, "faster") | {
        "looks": [[1.0, "screen", 0.7], [2.0, "full", 1.4], [20.0, "confirm", 1.5]],
        "spent": {"wall_s": 21.0},
        "opened": {"strongest": "fused"},
    }
    results("readme/run", {"task": "a & b"}, {"run": shown})
    tree = ET.fromstring(figures.best_so_far())
    words = " ".join(element.text or "" for element in tree.iter())
    assert "confirmed 1.50x [1.35, 1.65] over fused" in words
    assert "docs/figures/best_so_far.svg" in figures.shown()
