"""A kit is worth something if a part that breaks its contract fails it."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from kernelwright.candidates.notation import Notation
from kernelwright.languages.base import Availability, BuildResult
from kernelwright.records.evaluation import Build
from kernelwright.records.outcome import Outcome
from kernelwright.ship import file
from kernelwright.tasks.format import Spec
from kernelwright.testing.exporters import ExporterContract
from kernelwright.testing.formats import FormatContract
from kernelwright.testing.languages import LanguageContract
from tests import toys

SOURCE = "-- /// kernelwright\n-- tune.N = [1, 2]\n-- ///\n"


class Careless(toys.ToyC):
    """Builds anything at all, always to the same thing, and forgets whose candidate it was."""

    def available(self):
        return Availability(version="careless 1")

    def notes(self):
        return "be quick"

    def build(self, candidate, *, entry, **options):
        build = Build(seconds=0.0, binary="00", compiler="careless 1")
        return BuildResult(Outcome.PASSED, build, symbols=("kernel",))


class CarelessKit(LanguageContract):
    name, entry, source, broken = "toy-c", "kernel", SOURCE, "nonsense"

    def make(self, cache):
        return Careless(cache=cache)


class Undecided(toys.ToyC):
    notation = Notation(endings=("toy",), comment="--", types={"float32": "float"})

    def available(self):
        return Availability()


class UndecidedKit(CarelessKit):
    def make(self, cache):
        return Undecided(cache=cache)


@pytest.mark.usefixtures("toy_languages")
@pytest.mark.parametrize(
    ("kit", "test"),
    [
        (CarelessKit, "test_what_is_right_is_built_and_exports_its_entry"),
        (CarelessKit, "test_what_was_built_is_not_built_again"),
        (CarelessKit, "test_values_reach_the_code"),
        (CarelessKit, "test_a_mistake_is_an_outcome_not_an_exception"),
        (CarelessKit, "test_a_missing_entry_is_named"),
        (CarelessKit, "test_candidates_of_other_languages_are_refused"),
        (CarelessKit, "test_a_writer_is_told_what_to_know"),
        (UndecidedKit, "test_its_class_says_how_it_is_written"),
        (UndecidedKit, "test_it_says_whether_it_can_build"),
    ],
)
def test_a_careless_language_fails(kit, test, tmp_path):
    with pytest.raises(AssertionError):
        getattr(kit(), test)(tmp_path)


class Greedy:
    """Takes everything for its own, and executes it to learn what it is."""

    def matches(self, spec):
        return bool(spec.path.suffix != ".py" or runpy.run_path(str(spec.path)))

    def read(self, spec, inspector, inputs):
        return None


class GreedyKit(FormatContract):
    def make(self):
        return Greedy()

    def write(self, folder):
        (folder / "task.py").write_text("x = 1\n")
        return Spec(str(folder / "task.py"))

    def damaged(self, folder):
        return Spec("anything")


@pytest.mark.parametrize(
    "test",
    [
        "test_it_recognises_its_own_without_executing_it",
        "test_it_leaves_other_things_alone",
        "test_what_it_reads_is_a_task_that_can_be_judged",
        "test_what_is_damaged_is_the_users_to_mend",
    ],
)
def test_a_greedy_format_fails(test, tmp_path):
    with pytest.raises(AssertionError):
        getattr(GreedyKit(), test)(tmp_path)


class BoastfulKit(ExporterContract):
    """Ships whatever there is, as itself, without saying how it was measured."""

    def make(self):
        def export(summary):
            Path("copy.txt").write_text("x")
            return {"out/kernel.cpp": file.fixed(summary.best) if summary.best else "none"}

        return export


@pytest.mark.parametrize(
    "test",
    [
        "test_it_gives_files_by_their_plain_names",
        "test_the_evidence_travels_with_it",
        "test_without_a_winner_there_is_nothing_to_export",
    ],
)
def test_a_boastful_exporter_fails(test, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError):
        getattr(BoastfulKit(), test)()


def test_an_exporter_that_writes_by_itself_fails(tmp_path):
    with pytest.raises(AssertionError):
        BoastfulKit().test_it_writes_nothing_itself(tmp_path)
