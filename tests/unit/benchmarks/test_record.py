"""Raw data of a benchmark: rows are kept one by one, with where they come from, and never mixed."""

import json

import pytest

from benchmarks.record import ROOT, Recording


def test_a_stopped_benchmark_goes_on(tmp_path):
    path = tmp_path / "a" / "data.json"
    Recording(path, {"minutes": 1}).add("softmax", {"ratio": 2.0})
    again = Recording(path, {"minutes": 1})
    assert again.has("softmax")
    assert not again.has("matmul")
    again.add("matmul", {"ratio": 0.5})
    data = json.loads(path.read_text())
    assert {name: row["session"] for name, row in data["rows"].items()} == {
        "softmax": 0,
        "matmul": 1,
    }
    for session in data["sessions"]:
        assert {"date", "command", "commit", "device", "versions"} <= set(session)


def test_other_settings_are_refused(tmp_path):
    path = tmp_path / "data.json"
    Recording(path, {"minutes": 1}).add("softmax", {})
    with pytest.raises(SystemExit, match="other settings"):
        Recording(path, {"minutes": 2})


def test_folders_of_one_machine_are_left_out(tmp_path):
    path = tmp_path / "data.json"
    Recording(path, {}).add("softmax", {"origin": str(ROOT / "kernel.cpp")})
    assert json.loads(path.read_text())["rows"]["softmax"]["origin"] == "./kernel.cpp"
