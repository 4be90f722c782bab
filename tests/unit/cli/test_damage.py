"""A damaged run, and a store that cannot be written, as the command line shows them."""

import json
import sqlite3

import pytest

from kernelwright.cli.main import main
from kernelwright.store import unwritable
from tests.unit.cli.test_runs import said

WORDS = "optimize twice --start good.cpp --proposer tune --evaluations 20"


@pytest.fixture
def runs(folder, capsys):
    """Ids of two runs, older first."""
    return [said(capsys, WORDS)[1]["run"] for _ in range(2)]


def change(folder, words):
    with sqlite3.connect(folder / "runs.db") as connection:
        assert connection.execute(words).rowcount
    connection.close()


def test_a_damaged_run_is_listed_and_the_others_are_shown(runs, folder, capsys):
    bad, good = runs
    change(folder, f"UPDATE runs SET json = substr(json, 9) WHERE id = '{bad}'")
    assert main(["runs", "list"]) == 0
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()[1:] if line[:2] == "20"] == [good, bad]
    assert f"run {bad} is damaged" in err
    assert "hint: bring the store back from a copy" in err
    main(["runs", "list", "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["run"], row["status"]) for row in rows] == [(good, "improved"), (bad, "damaged")]
    for verb in ("show", "replay", "export", "resume"):
        code, found = said(capsys, f"runs {verb} {bad}")
        assert code == 2
        assert found["error"].startswith(f"run {bad} is damaged")
        assert found["hint"]
    assert said(capsys, "runs show latest")[1]["run"] == good
    assert said(capsys, WORDS)[0] == 0


@pytest.mark.parametrize("verb", ["runs show", "runs replay", "runs export", "ship"])
def test_a_damaged_row_is_named_by_every_verb_that_reads_it(runs, folder, capsys, verb):
    bad, good = runs
    change(folder, f"UPDATE evaluations SET json = '{{' WHERE run = '{bad}' AND rung = 4")
    code, found = said(capsys, f"{verb} {bad}")
    assert code == 2
    assert "evaluation" in found["error"]
    assert f"run {bad} is damaged" in found["error"]
    assert main([*verb.split(), good, *(["--to", "x.cpp"] if verb == "ship" else [])]) == 0


def test_a_task_that_is_gone_hides_no_run(runs, folder, capsys):
    change(folder, "DELETE FROM tasks")
    assert main(["runs", "list"]) == 0
    out, err = capsys.readouterr()
    assert all(run in out for run in runs)
    assert "is not in this store" in err


READING = [
    "runs list", "runs show latest", "runs replay latest", "runs export latest",
    "runs export latest --form folder --to copy", "ship latest --to x.cpp",
]  # fmt: skip


@pytest.mark.parametrize("line", READING)
def test_what_only_reads_does_so_where_nothing_can_be_written(
    runs, folder, capsys, monkeypatch, line
):
    before = (folder / "runs.db").read_bytes()
    monkeypatch.setattr(unwritable, "ways", lambda file, real=unwritable.ways: list(real(file))[1:])
    assert main(line.split()) == 0
    assert (folder / "runs.db").read_bytes() == before


@pytest.mark.parametrize("line", [WORDS, "runs resume latest"])
def test_what_writes_says_at_once_that_it_cannot(runs, folder, capsys, line):
    place = f"sqlite:///file:{folder}/runs.db?mode=ro&uri=true"
    code, found = said(capsys, f"{line} --store {place}")
    assert code == 2
    assert "readonly" in found["error"]
    assert found["hint"] == "the place may not be written; choose another with --store"


READS = ["runs list", "runs show latest", "ship latest --to x.cpp", "audit latest"]


@pytest.mark.parametrize("line", READS)
def test_a_store_that_was_emptied_is_named(runs, folder, capsys, line):
    for name in ("runs.db-wal", "runs.db-shm"):
        (folder / name).unlink(missing_ok=True)
    (folder / "runs.db").write_bytes(b"")
    code = main(line.split())
    err = capsys.readouterr().err
    assert code == 2
    assert f"error: the store {folder / 'runs.db'} is an empty file" in err
    assert "hint: bring it back from a copy if runs were kept in it, or remove it" in err
    assert (folder / "runs.db").stat().st_size == 0
