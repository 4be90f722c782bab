"""Tracked files speak to every reader: no path that exists on one machine only."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Written so that this file does not match itself.
HOMES = re.compile(r"/(?:work|root|farm)/[a-z.]|/tmp/[a-z]/", re.IGNORECASE)


def tracked(root):
    """Lists the files git tracks below `root`."""
    # A mounted folder may belong to somebody else, which git would refuse to read.
    command = ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z"]
    asked = subprocess.run(command, capture_output=True, text=True, check=True)
    return [root / name for name in asked.stdout.split("\0") if name]


def found_in(path):
    """Yields `line number: match` for each path of one machine in the file at `path`."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    for number, line in enumerate(text.splitlines(), start=1):
        for match in HOMES.finditer(line):
            yield f"{number}: {match[0]}"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the repository, not an archive")
def test_no_tracked_file_names_one_machine():
    files = [path for path in tracked(ROOT) if path.is_file()]
    assert files
    found = {str(path.relative_to(ROOT)): hits for path in files if (hits := [*found_in(path)])}
    assert found == {}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("see /{}/main/src".format("work"), False),
        ("HOME=/{}/.cache".format("root"), False),
        ("/{}/e/v/bin/python".format("tmp"), False),
        ("a framework/model, /tmp/session-1, /usr/lib", True),
    ],
)
def test_planted_paths_are_found(tmp_path, text, clean):
    (tmp_path / "page.md").write_text(f"first line\n{text}\n")
    assert (not list(found_in(tmp_path / "page.md"))) is clean
