"""Disks that are really full: a small file system in memory, with nothing left on it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.errors import PrerequisiteError, StoreError
from kernelwright.executors.local import LocalExecutor
from kernelwright.languages import cache as caches
from kernelwright.languages.cpp import Cpp
from kernelwright.records.outcome import Outcome
from kernelwright.records.run import Budget, RunSpec
from kernelwright.search.loop import resume_run, start_run
from kernelwright.store.store import Store
from kernelwright.verbs import setup
from tests.device import judging

PLAIN = 'extern "C" int blend() { return 0; }\n'
BROKEN = 'extern "C" int blend( { return 0; }\n'


@pytest.fixture
def small(tmp_path):
    """A file system of 16 MiB; the second value fills it."""
    folder = tmp_path / "small"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=16m,mode=1777", "tmpfs", os.fspath(folder)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("file systems cannot be mounted here")

    def fill(leave=0):
        with (folder / "ballast").open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                os.ftruncate(file.fileno(), max(file.tell() - leave, 0))

    yield folder, fill
    subprocess.run(["umount", "-l", os.fspath(folder)], check=True)


@pytest.fixture
def temporary(monkeypatch):
    """Lets temporary files go somewhere."""

    def choose(folder):
        monkeypatch.setattr(tempfile, "tempdir", os.fspath(folder))
        monkeypatch.setenv("TMPDIR", os.fspath(folder))

    return choose


@pytest.fixture(autouse=True)
def _own_spare(monkeypatch):
    monkeypatch.setattr(caches, "_spares", [])
    caches._tell.cache_clear()


def test_a_build_whose_cache_is_full_is_kept_for_this_process(small):
    folder, fill = small
    (folder / "builds").mkdir(mode=0o700)
    fill()
    cpp = Cpp("", folder)
    built = cpp.build(make_candidate(PLAIN, "cpp"), entry="blend")
    assert built.outcome is Outcome.PASSED
    assert not built.library.is_relative_to(folder)
    again = cpp.build(make_candidate(PLAIN, "cpp"), entry="blend")
    assert again.build.cached
    assert again.library == built.library


@pytest.mark.parametrize("source", [PLAIN, BROKEN, "// other\n" + PLAIN])
def test_no_room_to_build_in_is_not_the_candidates_fault(small, temporary, tmp_path, source):
    folder, fill = small
    cpp = Cpp("", tmp_path / "cache")
    assert cpp.toolchain.version
    temporary(folder)
    fill(leave=8192)
    with pytest.raises(PrerequisiteError, match="no space is left") as problem:
        cpp.build(make_candidate(source, "cpp"), entry="blend")
    assert "TMPDIR" in problem.value.hint
    assert sorted(path.name for path in folder.iterdir()) == ["ballast"]


def spec():
    return RunSpec(task="", device="cpu", proposers=(), effort="quick", threads=2,
                   budget=Budget(evaluations=6))  # fmt: skip


@pytest.fixture
def run(tmp_path):
    """Starts, or resumes, a short run with a cache and a store of its choice."""

    def start(cache, place, resume=""):
        executor = LocalExecutor(threads=2, cache=cache, baselines=("loop",))
        store = Store.open(os.fspath(place))
        try:
            with setup.resumable(store, resume):
                if resume:
                    return resume_run(store, executor, resume)
                start = [make_candidate(judging.LOOP, "cpp")]
                return start_run(store, executor, judging.task(), spec(), start=start)
        finally:
            store.close()

    return start


def test_a_run_goes_on_when_the_cache_fills_up(small, run, tmp_path, caplog):
    folder, fill = small
    (folder / "builds").mkdir(mode=0o700)
    fill()
    found = run(folder, tmp_path / "runs.db")
    assert found.counts.by_outcome == {"passed": 1}, found
    assert "builds are kept for this process only" in caplog.text


def test_a_full_disk_for_temporary_files_stops_a_run_and_it_can_be_resumed(
    small, run, temporary, tmp_path, monkeypatch
):
    folder, fill = small
    real, calls = LocalExecutor.submit, []

    def submit(self, job):
        calls.append(job)
        if len(calls) == 2:
            fill()
        real(self, job)

    monkeypatch.setattr(LocalExecutor, "submit", submit)
    temporary(folder)
    with pytest.raises(PrerequisiteError, match="no space is left") as problem:
        run(tmp_path / "cache", tmp_path / "runs.db")
    assert "free some space" in problem.value.hint
    assert "kernelwright runs resume" in problem.value.hint
    (folder / "ballast").unlink()
    assert [path.name for path in folder.iterdir()] == []
    run_id = problem.value.hint.partition("runs resume ")[2].split()[0]
    assert run(tmp_path / "cache", tmp_path / "runs.db", run_id).counts.measured


def test_a_store_on_a_full_disk_is_sound_and_the_run_goes_on_later(
    small, run, tmp_path, monkeypatch
):
    folder, fill = small
    real, calls = LocalExecutor.submit, []

    def submit(self, job):
        calls.append(job)
        if len(calls) == 2:
            fill()
        real(self, job)

    monkeypatch.setattr(LocalExecutor, "submit", submit)
    with pytest.raises(StoreError, match="full") as problem:
        run(tmp_path / "cache", folder / "runs.db")
    assert "free some space" in problem.value.hint
    with pytest.raises(StoreError):
        run(tmp_path / "cache", folder / "runs.db")
    reader = Store.open(os.fspath(folder / "runs.db"), writable=False)
    (found,) = reader.runs()
    reader.close()
    (folder / "ballast").unlink()
    assert run(tmp_path / "cache", folder / "runs.db", found.id).counts.measured


@pytest.mark.parametrize(
    ("verb", "code"),
    # Evaluating needs no store, and its temporary files find another place.
    [("doctor", 2), ("optimize softmax", 2), ("evaluate softmax x.cpp --rung draft", 3)],
)
def test_the_command_line_says_it(small, tmp_path, verb, code):
    folder, fill = small
    fill()
    (tmp_path / "x.cpp").write_text(PLAIN)
    done = subprocess.run(
        [sys.executable, "-m", "kernelwright", *verb.split()],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            **os.environ,
            "TMPDIR": os.fspath(folder),
            "KERNELWRIGHT_CACHE": os.fspath(folder / "cache"),
            "KERNELWRIGHT_STORE": os.fspath(folder / "runs.db"),
            "PYTHONPATH": os.fspath(Path(__file__).parents[2] / "src"),
        },
        timeout=150,
        check=False,
    )
    assert done.returncode == code, done
    assert "Traceback" not in done.stderr
    assert "hint: " in done.stderr or code == 3
