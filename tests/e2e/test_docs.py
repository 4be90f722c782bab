"""What the documentation tells a reader to type, typed.

A fenced block says after its language what it is for: ``file=NAME`` is written to that file,
``run`` is executed, ``exit=N`` is the code it ends with, ``needs=torch`` skips it where torch is
missing. The blocks of a page are done in order, in a folder of the page's own.
"""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [
    ROOT / "README.md",
    ROOT / "docs/tutorial.md",
    *sorted((ROOT / "docs/how-to").glob("*.md")),
]
BUDGET = {"KERNELWRIGHT_EFFORT": "quick", "KERNELWRIGHT_MINUTES": "4",
          "KERNELWRIGHT_EVALUATIONS": "16"}  # fmt: skip


class Block(NamedTuple):
    language: str
    words: dict[str, str]
    text: str


def blocks(page):
    for found in BLOCK.finditer(page.read_text()):
        words = dict(word.partition("=")[::2] for word in found[2].split())
        yield Block(found[1], words, found[3])


def do(block, folder, environment):
    """Run one block; everything it printed."""
    command = {
        "sh": ["bash", "-euo", "pipefail", "-c", block.text],
        "python": [sys.executable, "-c", block.text],
    }[block.language]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=400,
    )
    assert done.returncode == int(block.words.get("exit", 0)), block.text + done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    home = tmp_path_factory.mktemp("reader")
    # The package as it is installed here, by the name a reader types.
    tools = home / "bin"
    tools.mkdir()
    script = tools / "kernelwright"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m kernelwright "$@"\n')
    script.chmod(0o755)
    return {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "HOME": str(home),
        "KERNELWRIGHT_CACHE": str(home / "cache"),
        "PYTHONPATH": ".",
        **BUDGET,
    }


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_can_be_followed(page, environment, tmp_path):
    store = {"KERNELWRIGHT_STORE": str(tmp_path / "runs.db")}
    ran = 0
    for block in blocks(page):
        if "file" in block.words:
            target = tmp_path / block.words["file"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text)
        if "run" not in block.words:
            continue
        if block.words.get("needs") and not find_spec(block.words["needs"]):
            pytest.skip(f"needs {block.words['needs']}")
        do(block, tmp_path, environment | store)
        ran += 1
    assert ran, "a page without a block that is run"


def test_every_page_is_on_the_map():
    mapped = (ROOT / "docs/index.md").read_text()
    listed = (ROOT / "llms.txt").read_text()
    kinds = ("how-to", "explanation", "reference")
    for page in (one for kind in kinds for one in (ROOT / "docs" / kind).glob("*.md")):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert f"({name})" in mapped, name
        assert f"(docs/{name})" in listed, name
