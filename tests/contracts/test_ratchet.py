"""The ratchet finds growth, novelty and forgotten progress, and its list only turns one way."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import ratchet

ROOT = Path(__file__).parents[2]
REASON = "one table of published numbers that nobody reads in two halves"


def write(root, name, lines):
    path = root / "src" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x = 1\n" * lines)


def write_function(root, body_lines, docstring_lines=0):
    quotes = '    """' + "text\n" * docstring_lines + '    """\n' if docstring_lines else ""
    text = f"class C:\n  def long(self):\n{quotes}" + "    x = 1\n" * body_lines
    (root / "src").mkdir(exist_ok=True)
    (root / "src" / "f.py").write_text(text)


def run(root, *arguments):
    return ratchet.main(["--root", str(root), *arguments])


def listed(root):
    return {name: entry.lines for name, entry in ratchet.load(root / "ratchet.toml").items()}


def test_this_tree_agrees_with_its_list(capsys):
    assert run(ROOT) == 0, capsys.readouterr().out


def test_an_unlisted_file_above_the_aim_fails(tmp_path, capsys):
    write(tmp_path, "a.py", 250)
    assert run(tmp_path) == 0
    write(tmp_path, "a.py", 251)
    assert run(tmp_path) == 1
    assert "src/a.py: 251 lines, the aim is 250" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["cpp", "cu"])
def test_kernels_count_as_files(tmp_path, suffix):
    write(tmp_path, f"experts/long.{suffix}", 251)
    assert run(tmp_path) == 1


def test_an_unlisted_function_above_the_aim_fails(tmp_path, capsys):
    write_function(tmp_path, 59)
    assert run(tmp_path) == 0
    write_function(tmp_path, 60)
    assert run(tmp_path) == 1
    assert "src/f.py::C.long: 61 lines, the aim is 60" in capsys.readouterr().out


def test_a_docstring_does_not_make_a_function_longer(tmp_path):
    write_function(tmp_path, 59, docstring_lines=30)
    assert run(tmp_path) == 0


def test_a_new_entry_needs_a_reason(tmp_path, capsys):
    write(tmp_path, "a.py", 300)
    assert run(tmp_path, "--add", "src/a.py") == 2
    assert "without a reason" in capsys.readouterr().err
    assert run(tmp_path, "--add", "src/a.py", "--reason", "a table") == 0
    assert listed(tmp_path) == {"src/a.py": 300}
    assert run(tmp_path) == 0


def test_an_entry_written_by_hand_needs_a_reason_too(tmp_path, capsys):
    write(tmp_path, "a.py", 300)
    (tmp_path / "ratchet.toml").write_text('[[entry]]\nname = "src/a.py"\nlines = 300\n')
    assert run(tmp_path) == 1
    assert "src/a.py: is listed without a reason" in capsys.readouterr().out


def test_a_very_long_file_needs_an_explanation(tmp_path, capsys):
    write(tmp_path, "a.py", 401)
    assert run(tmp_path, "--add", "src/a.py", "--reason", "a table") == 2
    assert "split it, or give a reason" in capsys.readouterr().err
    assert run(tmp_path, "--add", "src/a.py", "--reason", REASON) == 0


@pytest.fixture
def with_entry(tmp_path):
    write(tmp_path, "a.py", 300)
    assert run(tmp_path, "--add", "src/a.py", "--reason", REASON) == 0
    return tmp_path


def test_a_listed_file_may_not_grow_and_update_does_not_help(with_entry, capsys):
    write(with_entry, "a.py", 301)
    assert run(with_entry, "--update") == 1
    assert "src/a.py: grew from 300 to 301 lines" in capsys.readouterr().out
    assert run(with_entry, "--add", "src/a.py", "--reason", REASON) == 2
    assert listed(with_entry) == {"src/a.py": 300}


def test_progress_has_to_be_written_down(with_entry, capsys):
    write(with_entry, "a.py", 280)
    assert run(with_entry) == 1
    assert "shrank from 300 to 280" in capsys.readouterr().out
    assert run(with_entry, "--update") == 0
    assert listed(with_entry) == {"src/a.py": 280}
    assert ratchet.load(with_entry / "ratchet.toml")["src/a.py"].reason == REASON


@pytest.mark.parametrize("lines", [250, 0])
def test_an_entry_within_the_aim_or_gone_leaves_the_list(with_entry, lines):
    write(with_entry, "a.py", lines)
    if not lines:
        (with_entry / "src" / "a.py").unlink()
    assert run(with_entry) == 1
    assert run(with_entry, "--update") == 0
    assert listed(with_entry) == {}


def test_update_adds_nothing(with_entry):
    write(with_entry, "b.py", 300)
    assert run(with_entry, "--update") == 1
    assert listed(with_entry) == {"src/a.py": 300}


def test_what_is_short_or_unknown_is_not_listed(tmp_path, capsys):
    write(tmp_path, "a.py", 10)
    assert run(tmp_path, "--add", "src/a.py", "--reason", REASON) == 2
    assert run(tmp_path, "--add", "src/b.py", "--reason", REASON) == 2
    assert listed(tmp_path) == {}


def test_reasons_survive_quotes_and_backslashes(tmp_path):
    write(tmp_path, "a.py", 300)
    reason = 'a "table" of \\ signs × µ'
    assert run(tmp_path, "--add", "src/a.py", "--reason", reason) == 0
    assert ratchet.load(tmp_path / "ratchet.toml")["src/a.py"].reason == reason
