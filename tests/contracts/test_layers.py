"""The import contracts hold, and each of them notices the import it exists to forbid."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT = "from importlinter.cli import lint_imports_command as run; run()"
JAIL_MAY_IMPORT = sys.stdlib_module_names | {"numpy", "torch", "triton", "cuda"}
OWN = re.compile(r"kernelwright\.jail(\.|$)")


def lint(source):
    """Runs the contracts of pyproject.toml on the package below `source`."""
    command = [sys.executable, "-c", LINT, "--no-cache", "--no-logo", str(ROOT / "pyproject.toml")]
    return subprocess.run(
        command,
        cwd=source,
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=120,
    )


def plant(source, files):
    """Writes a package in which every folder has its `__init__.py`."""
    for name, text in files.items():
        path = source / "kernelwright" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        for folder in path.relative_to(source).parents[:-1]:
            (source / folder / "__init__.py").touch()
        path.write_text(text)


def test_the_contracts_hold():
    done = lint(ROOT / "src")
    assert done.returncode == 0, done.stdout + done.stderr


def drawn(page):
    """Yields the rooms in the drawing of the house; what stands far to the right explains them."""
    drawing = page.partition("## The house")[2].split("```")[1]
    for line in drawing.strip().splitlines():
        yield from re.findall(r"\w+", re.split(r" {3,}", line)[0])


def test_the_house_is_drawn_as_it_stands():
    package = ROOT / "src" / "kernelwright"
    rooms = {path.stem for path in package.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert sorted(drawn((ROOT / "AGENTS.md").read_text())) == sorted(
        room for room in rooms if not room.startswith("__")
    )


ALLOWED = {
    "__init__.py": "def f():\n    from kernelwright import api\n",
    "api.py": "import kernelwright.verbs.optimize\n",
    "cli/main.py": "import kernelwright.verbs.optimize\nfrom kernelwright import __version__\n",
    "verbs/optimize.py": "import kernelwright.search.loop\n",
    "search/loop.py": "import kernelwright.store.store\n",
    "store/store.py": "import kernelwright.records.run\n",
    "records/run.py": "import kernelwright.errors\n",
    "errors.py": "",
    "evaluation/oracle/main.py": "import torch\nfrom kernelwright.evaluation.oracle import load\n",
    "evaluation/oracle/load.py": "import torch\n",
    "endtoend/trace.py": "import torch\n",
    "executors/ray_cluster.py": "import ray\n",
    "surrogate/train.py": "import torch\n",
    "jail/run.py": "import torch, triton\nfrom kernelwright.jail import build\n",
    "jail/build.py": "",
    "testing/check.py": "import kernelwright.search.loop\n",
}


def test_what_the_architecture_allows_passes(tmp_path):
    plant(tmp_path, ALLOWED)
    done = lint(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("contract", "name", "text"),
    [
        ("Imports go downwards only", "records/run.py", "import kernelwright.store.store"),
        ("Imports go downwards only", "errors.py", "import kernelwright.records.run"),
        ("Imports go downwards only", "store/store.py", "from kernelwright.devices import specs"),
        ("Imports go downwards only", "extra/room.py", ""),
        ("Frameworks are imported only", "search/loop.py", "def f():\n    import torch.nn"),
        ("Frameworks are imported only", "verbs/optimize.py", "from triton import language"),
        ("Frameworks are imported only", "evaluation/verifier.py", "import ray"),
        ("Nobody imports the jail", "evaluation/oracle/load.py", "import kernelwright.jail.run"),
        ("Nobody imports the jail", "verbs/optimize.py", "import kernelwright.testing.check"),
        ("Nobody imports the jail", "evaluation/pipeline.py", "from . import oracle"),
        ("Nobody imports the jail", "evaluation/pipeline.py", "from .oracle.load import x"),
        ("Nobody imports the jail", "surrogate/learned.py", "import kernelwright.surrogate.train"),
        ("The jail imports nothing", "jail/build.py", "import kernelwright.records.run"),
        ("No import cycle", "store/schema.py", "from . import frames"),
    ],
)
def test_a_planted_violation_is_found(tmp_path, contract, name, text):
    files = {
        **ALLOWED,
        "devices/specs.py": "",
        "store/frames.py": "from kernelwright.store import schema\n",
        "store/schema.py": "",
        name: text + "\n",
    }
    plant(tmp_path, files)
    done = lint(tmp_path)
    broken = [line for line in done.stdout.splitlines() if " BROKEN" in line]
    assert done.returncode == 1, done.stdout + done.stderr
    assert any(line.startswith(contract) for line in broken), done.stdout


def foreign_imports(path):
    """Yields what the file at `path` imports beyond the jail's short list.

    Started by path, it finds its neighbours by their bare names.
    """
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in names:
            top = name.partition(".")[0]
            beside = (path.parent / f"{top}.py").exists()
            if top not in JAIL_MAY_IMPORT and not beside and not OWN.match(name):
                yield name


def test_the_jail_needs_nothing_but_arrays_and_a_framework(tmp_path):
    (tmp_path / "confine.py").touch()
    planted = tmp_path / "run.py"
    planted.write_text(
        "import json, numpy, confine, pydantic\n"
        "from kernelwright import __version__\n"
        "from kernelwright.jail import build\n"
    )
    assert list(foreign_imports(planted)) == ["pydantic", "kernelwright"]
    files = (ROOT / "src" / "kernelwright" / "jail").rglob("*.py")
    assert {str(path): names for path in files if (names := list(foreign_imports(path)))} == {}
