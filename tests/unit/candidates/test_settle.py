from __future__ import annotations

from pathlib import Path

import pytest

import kernelwright
from kernelwright.candidates.header import parse
from kernelwright.candidates.settle import settle
from kernelwright.candidates.tunables import space

EXPERTS = sorted((Path(kernelwright.__file__).parent / "experts").glob("*/cpp/*.cpp"))
VALUES = {"cores": 2, **dict.fromkeys("MNKBHSDCWGFV", 64)}


@pytest.mark.parametrize("path", EXPERTS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_the_chosen_values_become_the_defaults_and_nothing_else_changes(path):
    source = path.read_text()
    before = space(parse(source, "cpp"), VALUES)
    *_, chosen = before.points()
    settled = settle(source, "cpp", chosen)
    header, after = parse(source, "cpp"), space(parse(settled, "cpp"), VALUES)
    assert after.default() == chosen
    assert {k: set(v) for k, v in after.choices.items()} == {
        k: set(v) for k, v in before.choices.items()
    }
    assert parse(settled, "cpp").model_dump(exclude={"tune"}) == header.model_dump(exclude={"tune"})
    assert settled.split("// ///\n", 1)[1] == source.split("// ///\n", 1)[1]


def test_a_file_without_tunables_is_left_alone():
    source = 'extern "C" int f() { return 0; }'
    assert settle(source, "cpp", {}) == source


@pytest.mark.usefixtures("toy_languages")
def test_texts_survive_quotes_and_backslashes():
    source = '# /// kernelwright\n# tune.X = ["a", "b\\"c\\\\"]\n# ///\nx = 1\n'
    chosen = {"X": 'b"c\\'}
    header = parse(settle(source, "toy-py", chosen), "toy-py")
    assert header.tune["X"] == ('b"c\\', "a")
