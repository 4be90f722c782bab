"""Beside the database: whole files, run folders, tables, and where all of it lies."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kernelwright.errors import StoreError
from kernelwright.records.run import Budget, RunSpec
from kernelwright.search.loop import start_run
from kernelwright.store import location
from kernelwright.store.files import write_atomically
from kernelwright.store.folders import export, to_toml
from kernelwright.store.frames import rows, to_frame
from kernelwright.store.location import default_url
from kernelwright.store.store import Store
from kernelwright.testing.simulated import (
    SimulatedExecutor,
    Truth,
    made_up_candidates,
    made_up_task,
)


@pytest.fixture(params=[1.3, 0.9])
def finished(request, tmp_path):
    store = Store.open(str(tmp_path / "store.db"))
    executor = SimulatedExecutor(lambda one: Truth(speedup=request.param))
    spec = RunSpec(task="", device="cpu", proposers=("tune",), effort="quick", threads=1,
                   budget=Budget(minutes=9))  # fmt: skip
    yield (
        store,
        start_run(
            store, executor, made_up_task(), spec, start=made_up_candidates(2), clock=executor.clock
        ),
    )
    store.close()


def test_a_file_is_old_or_new_never_between(tmp_path, monkeypatch):
    target = tmp_path / "file"
    target.write_text("old")

    def full(self, other):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(OSError, match="No space"):
            write_atomically(target, b"new")
    assert target.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_runs_folder_is_derived_and_can_be_made_again(finished):
    store, summary = finished
    folder = summary.folder
    assert folder == store.home / "runs" / summary.run.id
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    name = "best" if summary.run.status == "improved" else "closest"
    assert set(before) == {f"{name}.cpp", "run.toml", "events.jsonl"}
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    assert export(store, summary.run.id, sources=summary.sources()) == folder
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    table = tomllib.loads(before["run.toml"].decode())
    assert table[name] == summary.best.id
    assert len({"best", "closest"} & set(table)) == 1
    assert table["spec"]["proposers"] == ["tune"]
    assert table["budget"] == {"minutes": 9}
    lines = [json.loads(line) for line in before["events.jsonl"].decode().splitlines()]
    looks = [line for line in lines if line["kind"] == "evaluation"]
    assert len(looks) == len(store.evaluations(summary.run.id))
    assert {"opened", "champion", "stopped"} <= {line["kind"] for line in lines}


@pytest.mark.parametrize("finished", [1.3], indirect=True)
def test_a_best_of_before_goes_from_the_runs_own_folder_and_from_no_other(finished, tmp_path):
    store, summary = finished
    other = tmp_path / "elsewhere"
    other.mkdir()
    for folder in (summary.folder, other):
        (folder / "best.py").write_text("")
    export(store, summary.run.id, sources=summary.sources())
    export(store, summary.run.id, other, sources=summary.sources())
    assert {file.name for file in summary.folder.glob("best.*")} == {"best.cpp"}
    assert {file.name for file in other.glob("best.*")} == {"best.cpp", "best.py"}


def test_a_folder_that_cannot_be_written_is_explained(finished, tmp_path):
    store, summary = finished
    (tmp_path / "taken").write_text("")
    with pytest.raises(StoreError) as problem:
        export(store, summary.run.id, tmp_path / "taken", sources=summary.sources())
    assert "runs export" in problem.value.hint


def test_a_run_that_is_over_is_told_although_its_folder_cannot_be_written(tmp_path, caplog):
    (tmp_path / "runs").write_text("taken")
    store = Store.open(str(tmp_path / "store.db"))
    executor = SimulatedExecutor()
    spec = RunSpec(task="", device="cpu", proposers=("tune",), effort="quick", threads=1)
    start = made_up_candidates(2)
    done = start_run(store, executor, made_up_task(), spec, start=start, clock=executor.clock)
    assert done.run.status in ("improved", "no_improvement")
    assert "cannot be written" in caplog.text
    assert "runs export" in caplog.text
    store.close()


def test_toml_of_awkward_text():
    table = {"a": 'quote " \\ \n é \x07', "b": [1, "x"], "none": None, "t": {"c d": True}}
    parsed = tomllib.loads(to_toml(table))
    assert parsed == {"a": table["a"], "b": [1, "x"], "t": {"c d": True}}


def test_a_run_is_a_table_of_its_evaluations(finished):
    store, summary = finished
    frame = to_frame(store, summary.run.id)
    assert len(frame) == len(store.evaluations(summary.run.id)) == len(rows(store, "latest"))
    confirm = frame[frame["rung"] == "confirm"].iloc[0]
    assert confirm["candidate"] == summary.best.id
    assert confirm["large.baseline"] == "loop"
    assert confirm["large.low"] <= confirm["large.ratio"] <= confirm["large.high"]
    assert confirm["large.median_us"] == pytest.approx(1000.0 / confirm["large.ratio"])
    assert confirm["tune.BLOCK"] == summary.best.tunables["BLOCK"]
    drafts = frame[frame["rung"] == "draft"]
    assert drafts["large.ratio"].isna().all()
    assert (frame["run_device_s"].diff().dropna() >= 0).all()


def test_where_a_store_lies(monkeypatch, tmp_path):
    monkeypatch.setenv("KERNELWRIGHT_HOME", str(tmp_path / "own"))
    assert default_url() == f"sqlite:///{tmp_path}/own/store.db"
    monkeypatch.delenv("KERNELWRIGHT_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert default_url() == f"sqlite:///{tmp_path}/data/kernelwright/store.db"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_url() == f"sqlite:///{tmp_path}/.local/share/kernelwright/store.db"
    monkeypatch.chdir(tmp_path)
    assert location.file_of(location.parse("here.db")) == tmp_path / "here.db"
    assert location.parse("postgresql://h/d").drivername == "postgresql+psycopg"
    assert location.file_of(location.parse("sqlite://")) is None


def test_heavy_libraries_wait_until_they_are_needed():
    code = (
        "import sys, kernelwright.search.loop, kernelwright.store.frames, "
        "kernelwright.proposers.tune, kernelwright.search.study\n"
        "print([name for name in ('optuna', 'pandas', 'torch') if name in sys.modules])"
    )
    asked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == "[]"
