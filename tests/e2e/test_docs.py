"""What the documentation tells a reader to type, typed.

A fenced block says after its language what it is for: ``file=NAME`` is written to that file,
``run`` is executed, ``exit=N`` is the code it ends with, ``needs=torch`` or ``needs=nvcc`` skips it
where that is missing. The blocks of a page are done in order, in a folder of the page's own.

An honest search may find nothing on a loud machine: ``exit=0,3,4`` names every code that a block
may end with, and has one command, or an earlier one could hide a later one. What only makes sense
after a search that won says ``after=0`` and is left out after another ending.

What searches and what compares at length is given a smaller task than the page names, alike but in
its sizes; README is followed to the letter.
"""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^( *)```(\w+)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
PAGES = [
    ROOT / "README.md",
    ROOT / "docs/tutorial.md",
    *sorted((ROOT / "docs/how-to").glob("*.md")),
]
BUDGET = {"KERNELWRIGHT_EFFORT": "quick", "KERNELWRIGHT_MINUTES": "4",
          "KERNELWRIGHT_EVALUATIONS": "10"}  # fmt: skip
SMALLER = "smaller/softmax"
LONG = re.compile(r"^(.*\bkernelwright (?:optimize|compare)\b.*) softmax\b(?!\.)", re.MULTILINE)
"""A command that times kernels of a built-in task for minutes."""


SOFTMAX = ROOT / "src/kernelwright/suites/core/softmax"
SIZES = "axes = { M = 1024, N = 4096 }"


class Block(NamedTuple):
    language: str
    words: dict[str, str]
    text: str

    @property
    def codes(self):
        """Every code that it may end with."""
        return [int(code) for code in self.words.get("exit", "0").split(",")]


def blocks(page):
    for found in BLOCK.finditer(page.read_text()):
        words = dict(word.partition("=")[::2] for word in found[3].split())
        yield Block(found[2], words, textwrap.dedent(found[4]))


def smaller_task(folder):
    """The built-in task at one size that is timed within microseconds."""
    made = folder / SMALLER
    shutil.copytree(SOFTMAX, made)
    path = made / "task.toml"
    heads, *workloads = path.read_text().split("[[workloads]]\n")
    few = [one for one in workloads if 'role = "extra"' not in one and 'device = "cpu"' in one]
    text = "[[workloads]]\n".join([heads, *few])
    assert text.count(SIZES) == 1
    path.write_text(text.replace(SIZES, "axes = { M = 128, N = 1024 }"))


def shortened(block):
    """The same block where the smaller task lies in the folder."""
    return block._replace(text=LONG.sub(rf"\1 {SMALLER}", block.text))


def is_here(name):
    """Whether there is a package or a tool of that name."""
    return find_spec(name) is not None or shutil.which(name) is not None


def do(block, folder, environment):
    """Run one block; the code it ended with."""
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
    assert done.returncode in block.codes, f"{done.returncode}\n{block.text}{done.stdout}"
    return done.returncode


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
    ran, ended = 0, 0
    smaller_task(tmp_path)
    for block in map(shortened, blocks(page)):
        if "file" in block.words:
            target = tmp_path / block.words["file"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text)
        if "run" not in block.words:
            continue
        if "needs" in block.words and not is_here(block.words["needs"]):
            pytest.skip(f"needs {block.words['needs']}")
        if "after" in block.words and str(ended) not in block.words["after"].split(","):
            continue
        code = do(block, tmp_path, environment | store)
        ended = code if len(block.codes) > 1 else ended
        ran += 1
    assert ran, "a page without a block that is run"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_ending_hides_another(page):
    for block in blocks(page):
        if len(block.codes) > 1:
            assert len(block.text.strip().splitlines()) == 1, block.text
            assert set(block.codes) <= {0, 3, 4}, "what is wrong must fail"


@pytest.mark.parametrize(
    ("words", "script", "right"),
    [
        ({}, "exit 0", True),
        ({}, "exit 3", False),
        ({"exit": "3"}, "exit 0", False),
        ({"exit": "0,3"}, "exit 3", True),
        ({"exit": "0,3"}, "exit 4", False),
        ({"exit": "0,3,4"}, "exit 1", False),
        ({"exit": "0,3,4"}, "exit 2", False),
        ({"exit": "0,3,4"}, "exit 130", False),
    ],
)
def test_what_a_block_may_end_with(words, script, right, tmp_path):
    block = Block("sh", words, script)
    if right:
        do(block, tmp_path, dict(os.environ))
    else:
        with pytest.raises(AssertionError, match=script):
            do(block, tmp_path, dict(os.environ))


def test_every_page_is_on_the_map():
    mapped = (ROOT / "docs/index.md").read_text()
    listed = (ROOT / "llms.txt").read_text()
    kinds = ("how-to", "explanation", "reference")
    for page in (one for kind in kinds for one in (ROOT / "docs" / kind).glob("*.md")):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert f"({name})" in mapped, name
        assert f"(docs/{name})" in listed, name
