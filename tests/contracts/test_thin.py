"""The thin side runs anywhere: it imports without a framework, and the package starts light."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
FRAMEWORKS = ("torch", "triton", "ray")
# Started by path or by `python -m`: importing one would run it.
ENTRY = "__main__"

IMPORT_ALL = """
import importlib, json, sys, traceback

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(f"{name} is blocked in this test")

BLOCKED, modules = json.load(sys.stdin)
sys.meta_path.insert(0, Blocked())
failed = {}
for module in modules:
    try:
        importlib.import_module(module)
    except Exception:
        failed[module] = traceback.format_exc(limit=-2)
json.dump(failed, sys.stdout)
"""


def python(code, text="", path=SOURCE):
    """Runs `code` in a fresh interpreter that finds the package below `path`."""
    program = f"import sys; sys.path.insert(0, {str(path)!r})\n{code}"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout


def exempt():
    """Reads from the import contract which modules may need a framework."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = {row["id"]: row for row in config["tool"]["importlinter"]["contracts"]}
    lines = contracts["thin"]["ignore_imports"]
    return {line.partition(" -> ")[0].removesuffix(".**") for line in lines}


def modules(root):
    """Lists the modules below `root` that an import can reach; data folders are no packages."""
    for path in sorted(root.glob("kernelwright/**/*.py")):
        folders = list(path.relative_to(root).parents)[:-1]
        if path.stem != ENTRY and all((root / one / "__init__.py").exists() for one in folders):
            parts = path.relative_to(root).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def thin_modules(root):
    """Lists the modules that have to work without a framework."""
    heavy = exempt()
    for name in modules(root):
        parts = name.split(".")
        if not any(".".join(parts[: n + 1]) in heavy for n in range(len(parts))):
            yield name


def failures(root):
    """Imports every thin module with the frameworks blocked; returns module → traceback."""
    request = json.dumps([FRAMEWORKS, list(thin_modules(root))])
    return json.loads(python(IMPORT_ALL, request, root))


def test_every_thin_module_imports_without_a_framework():
    assert failures(SOURCE) == {}


def test_the_exempt_modules_are_the_five_of_the_architecture():
    assert exempt() == {
        "kernelwright.jail",
        "kernelwright.endtoend",
        "kernelwright.evaluation.oracle",
        "kernelwright.executors.ray_cluster",
        "kernelwright.surrogate.train",
    }


def test_a_planted_framework_is_found_and_an_exempt_one_is_not(tmp_path):
    rooms = ("evaluation", "search", "jail")
    for room in rooms:
        (tmp_path / "kernelwright" / room).mkdir(parents=True)
        (tmp_path / "kernelwright" / room / "__init__.py").touch()
    (tmp_path / "kernelwright" / "__init__.py").touch()
    for name in ("evaluation/oracle", "evaluation/verifier", "search/loop", "jail/run"):
        (tmp_path / "kernelwright" / f"{name}.py").write_text("import torch.nn\n")
    (tmp_path / "kernelwright" / "experts").mkdir()
    (tmp_path / "kernelwright" / "experts" / "softmax.py").write_text("import triton\n")
    found = failures(tmp_path)
    assert set(found) == {"kernelwright.evaluation.verifier", "kernelwright.search.loop"}
    assert "torch is blocked" in found["kernelwright.search.loop"]


def test_the_package_itself_imports_the_standard_library_alone():
    code = "before = set(sys.modules); import kernelwright; print(*set(sys.modules) - before)"
    loaded = {name.partition(".")[0] for name in python(code).split()}
    assert loaded - sys.stdlib_module_names == {"kernelwright"}


def frameworks_in(path):
    """Lists the frameworks that the file at `path` imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        yield from (name for name in names if name.partition(".")[0] in FRAMEWORKS)


def test_unit_tests_need_no_framework(tmp_path):
    planted = tmp_path / "test_planted.py"
    planted.write_text("def test_it():\n    from torch import nn\n")
    assert list(frameworks_in(planted)) == ["torch"]
    found = {
        str(path.relative_to(ROOT)): names
        for path in (ROOT / "tests" / "unit").rglob("*.py")
        if (names := list(frameworks_in(path)))
    }
    assert found == {}
