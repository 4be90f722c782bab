r"""The contract of a language: inherit, say how yours is made and give two texts, run pytest.

::

    class TestMine(LanguageContract):
        name = "mine"
        entry = "kernel"
        source = "-- /// kernelwright\n-- tune.N = [1, 2]\n-- ///\n..."
        broken = "..."

        def make(self, cache):
            return Mine(cache=cache)

What builds is skipped, with the reason, where the language says that it cannot build.
"""

from pathlib import Path
from unittest import SkipTest

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.candidates.header import parse
from kernelwright.candidates.notation import Notation
from kernelwright.candidates.settle import settle
from kernelwright.candidates.tunables import space
from kernelwright.errors import UsageError
from kernelwright.languages.base import BuildResult, Language
from kernelwright.records.candidate import Candidate
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import DTYPES


class LanguageContract:
    """What readers, the tuner and executors rely on."""

    name: str
    """Under which it is installed: the kit reads candidates by that name."""
    entry: str
    """A function that ``source`` exports and that no other text may be taken for."""
    source: str
    """A kernel that builds, with a header; each point of its tunables is other code."""
    broken: str
    """A text that does not build."""

    def make(self, cache: Path) -> Language:
        """The language, its built kernels in ``cache``."""
        raise NotImplementedError

    def test_its_class_says_how_it_is_written(self, tmp_path: Path) -> None:
        """Endings with their dot, a comment sign, and a type for every dtype or for none."""
        language = self.make(tmp_path)
        written = language.notation
        assert language.name == self.name
        assert type(language).notation is written, "it is asked of the class, without an instance"
        assert isinstance(written, Notation)
        assert written.endings
        assert all(one.startswith(".") and len(one) > 1 for one in written.endings)
        assert written.comment
        assert set(written.types) in (set(), set(DTYPES))

    def test_a_header_is_read_and_written_back(self) -> None:
        """The last point of the tunables can be made the default of the same file."""
        *_, chosen = space(parse(self.source, self.name), {}).points()
        again = settle(self.source, self.name, chosen)
        assert space(parse(again, self.name), {}).default() == chosen

    def test_it_says_whether_it_can_build(self, tmp_path: Path) -> None:
        """A version, or the reason and what to do."""
        found = self.make(tmp_path).available()
        assert found.ok == bool(found.version)
        assert found.ok or (found.reason and found.hint)

    def test_what_is_right_is_built_and_exports_its_entry(self, tmp_path: Path) -> None:
        """There is a library, its binary has a name, and its entry was looked for."""
        result = self.built(tmp_path, self.candidates()[0])
        assert result.passed, (result.reason, result.build.log)
        assert result.library is not None
        assert result.library.exists()
        assert self.entry in result.symbols
        assert result.build.binary
        assert result.build.compiler

    def test_what_was_built_is_not_built_again(self, tmp_path: Path) -> None:
        """The same candidate is the same binary, from the cache."""
        first, again = (self.built(tmp_path, self.candidates()[0]) for _ in range(2))
        assert (first.build.cached, again.build.cached) == (False, True)
        assert first.build.binary == again.build.binary
        assert again.symbols == first.symbols

    def test_values_reach_the_code(self, tmp_path: Path) -> None:
        """Each point of the tunables is another binary."""
        everybody = self.candidates()
        binaries = {self.built(tmp_path, one).build.binary for one in everybody}
        assert len(binaries) == len(everybody) > 1

    def test_a_mistake_is_an_outcome_not_an_exception(self, tmp_path: Path) -> None:
        """It has a reason, and there is no library."""
        result = self.built(tmp_path, make_candidate(self.broken, self.name))
        assert result.outcome in (Outcome.PARSE_ERROR, Outcome.BUILD_ERROR)
        assert result.reason
        assert result.library is None

    def test_a_missing_entry_is_named(self, tmp_path: Path) -> None:
        """Code without the task's function has another prototype than the task's."""
        result = self.built(tmp_path, self.candidates()[0], entry="another_entry")
        assert result.outcome is Outcome.SIGNATURE_ERROR
        assert "another_entry" in result.reason
        assert result.library is None

    def test_candidates_of_other_languages_are_refused(self, tmp_path: Path) -> None:
        """Giving it one is a mistake of the caller."""
        foreign = self.candidates()[0].model_copy(update={"language": "unheard-of"})
        try:
            self.built(tmp_path, foreign)
        except UsageError:
            return
        raise AssertionError("it built a candidate of another language")

    def test_a_writer_is_told_what_to_know(self, tmp_path: Path) -> None:
        """Notes are a text with every blank filled in."""
        language = self._able(tmp_path)
        notes = language.notes()
        assert notes.strip()
        assert language.available().version in notes

    def candidates(self) -> list[Candidate]:
        """The source at every point of its tunables."""
        points = space(parse(self.source, self.name), {}).points()
        return [make_candidate(self.source, self.name, point) for point in points]

    def built(self, cache: Path, candidate: Candidate, entry: str = "") -> BuildResult:
        """Build it, looking for the kit's entry or another one."""
        return self._able(cache).build(candidate, entry=entry or self.entry)

    def _able(self, cache: Path) -> Language:
        language = self.make(cache)
        found = language.available()
        if not found.ok:
            raise SkipTest(found.reason)
        return language
