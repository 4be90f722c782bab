"""A part of what `scripts/bench fuzz` gives to every parser of untrusted input; what it found."""

from __future__ import annotations

import json
import sys
import time

import pytest

from benchmarks.fuzzing import sources
from benchmarks.fuzzing.every import PARSERS
from benchmarks.fuzzing.parser import Parser, tried
from kernelwright import expressions, settings
from kernelwright.candidates import header
from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.candidates.settle import settle
from kernelwright.devices import measured
from kernelwright.errors import (
    HeaderError,
    JudgeError,
    KernelwrightError,
    StoreError,
    TaskError,
    UsageError,
)
from kernelwright.evaluation import report
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.languages import compiler_log, elf
from kernelwright.languages.cache import Cache
from kernelwright.search import landscape
from kernelwright.ship.header import without_header
from kernelwright.store import leases, location, rows
from kernelwright.tasks import contract
from kernelwright.tasks.load import load_task
from kernelwright.verbs import entrants
from tests import samples

SAMPLE = 500
DIGITS = "9" * 5000


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@pytest.mark.parametrize("parser", PARSERS, ids=lambda one: one.name)
def test_only_refusals_of_ours_come_out(parser):
    found = tried(parser, range(SAMPLE))
    assert found.problems == []
    assert found.inputs == SAMPLE
    assert found.accepted > 0 or parser.name in NEVER
    assert found.refused > 0 or parser.name in ALWAYS


NEVER = {"word for a run"}
"""The store is empty."""
ALWAYS = {
    "form of a Python file", "flags and libraries", "compiler log", "assembler's log",
    "report of a block",
    "refusal of a worker", "owner of a run", "note beside a build", "peaks that were kept",
}  # fmt: skip
"""What they refuse is a value."""


def test_the_same_number_is_the_same_input():
    parser = next(one for one in PARSERS if one.name == "header, C++")
    seen: list[str] = []
    noting = Parser(parser.name, parser.make, seen.append)
    tried(noting, range(10))
    tried(noting, range(5, 10))
    assert seen[5:10] == seen[10:]
    assert len(set(seen)) > 5


def test_another_error_is_a_fault_and_named():
    def read(number):
        raise (KeyError("a") if number else UsageError("no"))

    found = tried(Parser("one", lambda chance: chance.randrange(2), read), range(50))
    assert found.faults + found.refused == 50
    assert found.faults > 0
    assert found.problems[0].startswith("input ")
    assert "KeyError at test_fuzz.py:" in found.problems[0]


def test_what_takes_long_is_a_fault(monkeypatch):
    monkeypatch.setattr("benchmarks.fuzzing.parser.SLOW_S", -1.0)
    found = tried(Parser("one", lambda chance: 1, lambda number: None), range(2))
    assert found.faults == 2


def test_numbers_of_thousands_of_digits_are_not_toml(tmp_path):
    source = f"// /// kernelwright\n// tune.A = [{DIGITS}]\n// ///\n"
    with pytest.raises(HeaderError, match="not TOML"):
        header.parse(source, "cpp")
    (tmp_path / "kernelwright.toml").write_text(f"seed = {DIGITS}\n")
    with pytest.raises(UsageError, match="not TOML"):
        settings.find_file(tmp_path)
    (tmp_path / "task.toml").write_text(f"name = {DIGITS}\n")
    with pytest.raises(TaskError, match="not TOML"):
        load_task(tmp_path, inspector=lambda request: {})


def test_keys_of_many_parts_take_no_time(tmp_path):
    (tmp_path / "task.toml").write_text("a = 1\n" + "a." * 400_000 + "a = 1\n")
    began = time.process_time()
    with pytest.raises(TaskError, match=r"task\.toml:2:1: not TOML: a line with more than 1000"):
        load_task(tmp_path, inspector=lambda request: {})
    assert time.process_time() - began < 2


def test_arrays_in_arrays_are_not_settings(tmp_path):
    (tmp_path / "kernelwright.toml").write_text("seed = " + "[" * 5000)
    with pytest.raises(UsageError, match="not TOML"):
        settings.find_file(tmp_path)


def test_a_project_file_whose_tools_are_no_table_has_no_settings_of_ours(tmp_path):
    (tmp_path / "pyproject.toml").write_text("tool = 3\n")
    assert settings.find_file(tmp_path) is None or settings.find_file(tmp_path).path != (
        tmp_path / "pyproject.toml"
    )


@pytest.mark.parametrize("text", ["1e999", "-1e999", "1e999 - 1e999", "0.5"])
def test_what_is_not_a_whole_number(text):
    with pytest.raises(expressions.ExpressionError, match="not a whole number"):
        expressions.evaluate_int(text, {})


def test_a_source_with_half_a_letter_is_refused():
    with pytest.raises(UsageError, match="half a letter"):
        make_candidate("// \ud800\n", "cpp", {})


def test_names_that_no_file_can_have():
    with pytest.raises(TaskError, match="cannot be looked up: File name too long"):
        load_task("a" * 300, inspector=lambda request: {})
    assert not entrants.is_file("a" * 300)


def test_a_report_of_another_length_is_none():
    assert report.parse(b"12345678" + bytes(12), b"12345678", 1) is not None
    assert report.parse(b"12345678" + bytes(11), b"12345678", 1) is None


@pytest.mark.parametrize("answer", [{}, {"description": None}, {"description": [1]}])
def test_an_oracle_that_describes_nothing(answer, monkeypatch):
    monkeypatch.setattr(Oracle, "_ask", lambda self, message: answer)
    with pytest.raises(JudgeError, match="did not describe the file"):
        Oracle().inspect({})


@pytest.mark.parametrize(
    "place", ["postgresql://me@host:99x/db", "sqlite://[::1", "~nobody-of-that-name/runs.db"]
)
def test_no_place_for_a_store(place):
    with pytest.raises(StoreError):
        location.parse(place)


def test_words_that_a_database_cannot_hold(tmp_path):
    from kernelwright.store.store import Store

    store = Store.open(str(tmp_path / "runs.db"))
    with pytest.raises(KernelwrightError):
        store.run("\udc80")
    store.close()


def test_owners_that_cannot_be_read_are_dead():
    here = leases.me().rsplit(":", 2)[0]
    assert not leases.alive(f"{here}:{DIGITS}:1", 1e12)
    assert not leases.alive("elsewhere:1:1", "soon")
    assert leases.alive("elsewhere:1:1", 1e12)


def test_a_claim_without_a_number_names_its_row():
    class Row:
        run, candidate, rung, reserved_s, number = "r", "c", 2, 1.0, float("inf")

    with pytest.raises(StoreError, match="claim inf of run r is damaged"):
        rows.claim(Row())


@pytest.mark.parametrize("value", ["a", None, float("nan"), -1, 10**400, [[]]])
def test_peaks_that_are_no_numbers_are_measured_anew(tmp_path, value):
    sound = measured.Peaks(1.0, 2.0, 3, 4.0, 5.0)
    measured.keep(sound, 1, tmp_path)
    assert measured.recent(1, tmp_path) == sound
    path = measured._path(1, tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"copy_gbps": value}))
    assert measured.recent(1, tmp_path) is None


def test_a_note_that_is_nested_deeply_is_a_damaged_build(tmp_path):
    kept = Cache(tmp_path)
    entry = kept.put("ab" * 32, b"library", {})
    (entry.library.parent / "facts.json").write_text("[" * 5000)
    assert kept.get("ab" * 32) is None
    assert kept.put("ab" * 32, b"library", {}).library.read_bytes() == b"library"


def test_a_landscape_that_is_damaged_is_named(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    landscape.append(path, [{"format": landscape.FORMAT, "task": 3}])
    with pytest.raises(UsageError, match="is damaged"):
        landscape.load(path)
    landscape.append(tmp_path / "b.gz", ["nothing"])
    with pytest.raises(UsageError, match="is not a landscape"):
        landscape.load(tmp_path / "b.gz")


def test_extents_beyond_any_tensor():
    huge = samples.task(axes={"N": "free"}, inputs=[
        {"name": "x", "dtype": "float32", "shape": ["N", "10**30"]}])  # fmt: skip
    with pytest.raises(TaskError, match="larger than any"):
        contract.resolve(huge, huge.workloads[0])
    digits = samples.task(inputs=[
        {"name": "x", "dtype": "float32", "shape": [2**62] * 400}])  # fmt: skip
    with pytest.raises(
        TaskError, match=r"GiB in float64, more than a quarter of the \S+ GiB of memory here"
    ):
        contract.resolve(digits, digits.workloads[0])


def test_a_range_that_cannot_be_evaluated():
    odd = samples.task(inputs=[
        {"name": "x", "dtype": "float32", "shape": ["N"], "values": {"high": "N)"}}])  # fmt: skip
    with pytest.raises(TaskError, match="the range of 'x': 'N\\)' is not an expression"):
        contract.resolve(odd, odd.workloads[0])


def test_a_place_in_the_home_of_nobody(tmp_path, monkeypatch):
    (tmp_path / "kernelwright.toml").write_text('seed = 1\nstore = "~nobody-of-that-name/a.db"\n')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"kernelwright\.toml:2: store = .* is no place"):
        settings.Settings.load()


def test_a_file_with_a_byte_order_mark_can_be_settled():
    plain = settle(samples.SOURCE, "cpp", {"THREADS": 2})
    assert settle(f"\ufeff{samples.SOURCE}", "cpp", {"THREADS": 2}) == plain
    assert "kernelwright" not in without_header(f"\ufeff{samples.SOURCE}", "//")


def test_a_line_that_only_python_would_break_stays_whole():
    source = samples.SOURCE + "// one\u2028two\x0cthree\n"
    assert settle(source, "cpp", {"THREADS": 2}).endswith("// one\u2028two\x0cthree\n")


@pytest.mark.parametrize("line", ["9" * 5000, "0"])
def test_a_remark_at_a_line_that_cannot_be(line):
    remark = f"kernel.cpp:{line}:1: optimized: loop vectorized"
    assert compiler_log.vectorised(remark, "") == 0
    assert compiler_log.vectorised(remark, "for") == 0


def test_python_that_is_odd_is_described():
    deep = "class ModelNew(" + "a+" * 400 + "b): pass"
    facts = sources.jailed.described(deep.encode(), "twice", "ModelNew")
    assert facts["model"]["whole"] is False
    many = ",".join(f"a{at:05}{'ä' * 200}" for at in range(20_000))
    facts = sources.jailed.described(f"def twice({many}): pass".encode(), "twice", "ModelNew")
    assert len(json.dumps(facts)) < 1 << 20


def test_symbols_are_read_once_however_often_they_are_named():
    once = elf.exported_functions(sources.LIBRARY)
    sections = sources.LIBRARY[-192:]
    again = bytearray(sources.LIBRARY + sections[64:128] * 60_000)
    again[60:62] = (60_003).to_bytes(2, "little")
    began = time.process_time()
    assert elf.exported_functions(bytes(again)) == once == ("helper", "twice")
    assert time.process_time() - began < 2


def test_the_jail_is_only_read_here():
    assert "kernelwright.jail.parse" not in sys.modules
