"""Streams, stores and disks that cannot take anything more: a sentence, a hint, the right code."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import event

from kernelwright.cli.main import main
from kernelwright.errors import scarce
from kernelwright.store.store import Store
from kernelwright.store.writer import Writer
from tests.unit.cli.test_main import SRC
from tests.unit.cli.test_runs import said

FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")


@pytest.fixture
def run(folder, capsys):
    words = "optimize twice --start good.cpp --proposer tune --evaluations 20"
    assert main(words.split()) == 0
    capsys.readouterr()


def process(words, folder, redirected):
    """Exit code and standard error of a command line with a redirection of the shell."""
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m kernelwright {words} {redirected}"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SRC), "KERNELWRIGHT_STORE": str(folder / "s.db")},
        timeout=60,
    )
    assert "Traceback" not in done.stderr + done.stdout
    assert "Exception ignored" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@needs_full
@pytest.mark.parametrize(
    "words",
    ["config", "config --json", "tasks list", "tasks show softmax", "--help", "--version",
     "optimize --help", "tasks list --json", "optimize softmax --dry-run"],
)  # fmt: skip
@pytest.mark.parametrize("buffered", ["", "1"])
def test_a_full_standard_output_is_exit_2(tmp_path, words, buffered, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", buffered)
    code, _, err = process(words, tmp_path, ">/dev/full")
    assert code == 2
    first, hint = err.splitlines()[-2:]
    assert first.startswith("error: standard output cannot be written: No space left")
    assert hint.startswith("hint: send it elsewhere")
    assert err.count("error:") == 1


@needs_full
def test_an_error_that_cannot_be_said_keeps_its_code(tmp_path):
    assert process("optimise", tmp_path, "2>/dev/full")[0] == 2
    code, out, _ = process("optimise --json", tmp_path, "2>/dev/full")
    assert code == 2
    assert json.loads(out)["hint"] == "did you mean 'optimize'?"
    assert process("optimise --json", tmp_path, ">/dev/full 2>/dev/full")[0] == 2
    assert process("config", tmp_path, "2>/dev/full")[0] == 0


def test_a_closed_standard_output_is_noticed(tmp_path):
    code, _, err = process("config", tmp_path, ">&-")
    assert code == 2
    assert "standard output cannot be written" in err
    assert process("config", tmp_path, "2>&-")[0] == 0


@needs_full
@pytest.mark.parametrize(
    "line",
    ["runs export latest --to /dev/full", "runs export latest --form csv --to /dev/full",
     "ship latest --to /dev/full --force"],
)  # fmt: skip
def test_a_full_file_is_said(run, capsys, line):
    code, found = said(capsys, line)
    assert code == 2
    assert found["error"] == "/dev/full cannot be written: No space left on device"
    assert "free some space" in found["hint"]
    assert FULL.is_char_device()


def test_what_was_there_stays_when_the_new_file_does_not_fit(run, folder, capsys, monkeypatch):
    (folder / "mine.cpp").write_text("mine")

    def full(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", lambda _: full(None, None))
        code, found = said(capsys, "ship latest --to mine.cpp --force")
    assert code == 2
    assert "No space left" in found["error"]
    assert (folder / "mine.cpp").read_text() == "mine"
    assert not list(folder.glob(".writing-*"))


def test_no_room_for_temporary_files_is_exit_2(folder, capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/x")

    monkeypatch.setattr(Path, "mkdir", full)
    monkeypatch.setattr("tempfile.mkdtemp", full)
    for line in ("optimize twice --start good.cpp", "doctor"):
        code = main(line.split())
        err = capsys.readouterr().err
        assert code == 2, line
        assert "hint: " in err
        assert "Traceback" not in err


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE])
def test_what_the_machine_lacks_is_no_fault_of_ours(folder, capsys, monkeypatch, code):
    def lacking(*_, **__):
        raise OSError(code, os.strerror(code), "/some/file")

    monkeypatch.setattr("kernelwright.verbs.setup.task", lacking)
    found = said(capsys, "optimize twice --start good.cpp")
    assert found[0] == 2
    assert "/some/file" in found[1]["error"]
    assert found[1]["hint"]


def test_other_errors_of_the_system_stay_what_they_are():
    assert scarce(OSError(errno.EACCES, "no")) is None
    assert scarce(ValueError("no")) is None
    assert "memory" in scarce(MemoryError()).message


def test_a_run_whose_store_is_full_says_so_and_can_be_resumed(folder, capsys, monkeypatch):
    """The disk fills up in the middle of a run; nothing committed is lost."""
    real, calls = Writer.commit, []

    def commit(self, run, step, *, release=False):
        calls.append(1)
        if len(calls) == 4:
            self.store.engine.dispose()
            event.listen(self.store.engine, "checkout", _no_page_more)
        real(self, run, step, release=release)

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "commit", commit)
        words = "optimize twice --start good.cpp --proposer tune --evaluations 20"
        assert main(words.split()) == 2
    err = capsys.readouterr().err
    assert "full" in err
    assert "resume the run" in err
    store = Store.open(str(folder / "runs.db"))
    assert store.owner(store.run("latest").id)[0] == ""
    store.close()
    assert main(["runs", "list"]) == 0
    assert main(["runs", "resume", "latest"]) == 0


def _no_page_more(connection, record, proxy):
    connection.execute("PRAGMA max_page_count=1")  # as many as there are
