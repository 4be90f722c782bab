"""A test's folder decides its marker; a device it lacks is named when it is skipped."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.conftest import NEVER_TIMES

ROOT = Path(__file__).parents[2]
NO_DRIVER = {"LD_LIBRARY_PATH": "", "CUDA_VISIBLE_DEVICES": "-1"}


@pytest.fixture
def project(tmp_path):
    (tmp_path / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def add(project, name, text="def test_it(): pass\n"):
    path = project / "tests" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


def run(project, *arguments):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command, cwd=project, env={**NO_DRIVER}, capture_output=True, text=True, timeout=60
    )


def test_the_folder_is_the_marker(project):
    add(project, "unit/test_same.py")
    add(project, "golden/test_same.py")
    done = run(project, "-m", "golden", "-v")
    assert "golden/test_same.py::test_it PASSED" in done.stdout
    assert "1 passed, 1 deselected" in done.stdout


@pytest.mark.parametrize("name", ["test_lost.py", "other/test_lost.py"])
def test_a_test_without_a_kind_is_refused(project, name):
    add(project, name)
    done = run(project)
    assert done.returncode == 4
    assert f"tests/{name}: tests live in tests/<kind>/" in done.stderr


def test_a_gpu_test_is_skipped_with_the_reason(project):
    add(
        project,
        "device/test_gpu.py",
        "import pytest\n@pytest.mark.gpu\ndef test_it(): raise AssertionError\n",
    )
    done = run(project)
    assert done.returncode == 0
    assert "needs a CUDA device" in done.stdout


def test_a_warning_is_an_error(project):
    add(project, "unit/test_warns.py", "import warnings\ndef test_it(): warnings.warn('w')\n")
    assert "UserWarning: w" in run(project).stdout


def test_tests_that_hold_a_device_share_a_worker(project):
    for kind in ("e2e", "exploits", "device", "unit"):
        add(project, f"{kind}/test_many.py", "".join(f"def test_{n}(): pass\n" for n in range(8)))
    done = run(project, "-v", "-n", "2")
    workers = defaultdict(set)
    for worker, kind in re.findall(r"\[(gw\d)\] .* tests/(\w+)/", done.stdout):
        workers[kind].add(worker)
    assert len(workers["e2e"] | workers["exploits"] | workers["device"]) == 1
    assert workers["unit"]


def test_what_never_times_runs_beside_the_device(project):
    text = "".join(f"def test_{n}(): pass\n" for n in range(8))
    for name in ("device/test_many.py", "device/test_cpp.py", "unit/test_many.py"):
        add(project, name, text)
    done = run(project, "-v", "-n", "2")
    workers = defaultdict(set)
    for worker, file in re.findall(r"\[(gw\d)\] .* tests/(\w+/\w+)\.py", done.stdout):
        workers[file].add(worker)
    assert len(workers["device/test_many"]) == 1
    assert workers["device/test_cpp"].isdisjoint(workers["device/test_many"])


@pytest.mark.parametrize("file", sorted(NEVER_TIMES))
def test_what_never_times_opens_no_session(file):
    found = re.search(r"LocalExecutor|Court\b|executors", (ROOT / file).read_text())
    assert found is None, f"{file} can time kernels by {found}"
