"""The wheel carries every file of the package: kernels, suites and type marker, not code alone."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CACHES = {"__pycache__", ".mypy_cache", ".ruff_cache"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*command, "--directory", str(folder)], cwd=ROOT, check=True, timeout=120)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as archive:
        return archive.namelist(), {
            name: archive.read(name).decode()
            for name in archive.namelist()
            if ".dist-info/" in name
        }


def test_every_file_of_the_package_travels(wheel):
    names, _ = wheel
    here = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "kernelwright").rglob("*")
        if path.is_file() and not CACHES.intersection(path.parts)
    }
    assert here == {name for name in names if ".dist-info/" not in name}
    assert "kernelwright/py.typed" in here


def test_the_core_needs_no_framework_and_the_command_is_there(wheel):
    _, about = wheel
    metadata = next(text for name, text in about.items() if name.endswith("METADATA"))
    core = set(re.findall(r"^Requires-Dist: ([\w.-]+)[^;\n]*$", metadata, re.MULTILINE))
    assert "numpy" in core
    assert core.isdisjoint({"torch", "triton", "ray"})
    entry = next(text for name, text in about.items() if name.endswith("entry_points.txt"))
    assert "kernelwright = kernelwright.__main__:main" in entry
