"""Names say what a thing is: no bags, no version numbers, no standard library hidden."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BAGS = re.compile(r"(^|_)(utils?|helpers?|managers?|common|misc|stuff|v\d+)(_|$)")
CLASS_BAGS = re.compile(r"(Utils?|Helpers?|Manager|Misc|V\d+)$")


def bad_paths(root):
    """Yields files and folders below `root` that are named after no subject."""
    for path in sorted(root.rglob("*")):
        if "__pycache__" not in path.parts and BAGS.search(path.stem.lower()):
            yield str(path.relative_to(root))


def bad_classes(root):
    """Yields the classes below `root` that are named after no subject."""
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and CLASS_BAGS.search(node.name):
                yield f"{path.relative_to(root)}: {node.name}"


def shadows(folder):
    """Yields the names in `folder` that hide a module once `folder` is first on the path."""
    for path in sorted(folder.glob("*")):
        if path.stem in sys.stdlib_module_names and path.stem != "__init__":
            yield path.name


@pytest.mark.parametrize("folder", ["src", "scripts", "tests"])
def test_nothing_is_a_bag(folder):
    assert list(bad_paths(ROOT / folder)) == []
    assert list(bad_classes(ROOT / folder)) == []


# Elsewhere imports are absolute and a room may bear its subject's name. These two folders can
# become the first entry of sys.path: the package's own, and the jail's, which is started by path.
@pytest.mark.parametrize("folder", ["", "jail"])
def test_no_module_hides_the_standard_library(folder):
    assert list(shadows(ROOT / "src" / "kernelwright" / folder)) == []


def test_planted_names_are_found(tmp_path):
    for name in ("store_utils.py", "loop_v2.py", "helper", "conv2d.py", "statistics.py", "good.py"):
        (tmp_path / name).touch()
    (tmp_path / "good.py").write_text("class JobManager: ...\nclass Manage: ...\n")
    assert list(bad_paths(tmp_path)) == ["helper", "loop_v2.py", "store_utils.py"]
    assert list(bad_classes(tmp_path)) == ["good.py: JobManager"]
    assert list(shadows(tmp_path)) == ["statistics.py"]
