"""kill -9 of a worker, a verifier, a whole command: nothing is left, and the run goes on."""

from __future__ import annotations

import shutil

import pytest

from tests.device.killing import Killing, chain
from tests.e2e.conftest import GOOD, REFERENCE, TASK

pytestmark = [
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++"),
    pytest.mark.timeout(600),
]
MANY = GOOD.replace("[1, 2]", f"[1, 2]\n// tune.X = {list(range(64))}").replace(
    "return 0;", "volatile int kept = X; return kept - X;"
)
"""With so many points to try that a run does not end before it is killed."""
FILES = {"poly/task.toml": TASK, "poly/reference.py": REFERENCE, "good.cpp": MANY}
LINE = "optimize poly --start good.cpp --proposer tune --evaluations 16 --effort quick"
OPTIMIZE = LINE.split()


@pytest.fixture
def killing(tmp_path):
    return Killing(tmp_path, 3, FILES)


@pytest.mark.parametrize("role", ["worker", "verifier", "parent"])
def test_an_evaluation_of_which_a_part_is_killed(killing, role):
    found = killing.once(["evaluate", "poly", "good.cpp", "--rung", "full"], role, 2.0)
    assert found.problems == []
    assert found.code in ((-9,) if role == "parent" and found.hit else (0, 1, 2, 3))


def test_a_run_of_which_parts_are_killed_goes_on(killing):
    found = chain(killing, OPTIMIZE, 2, 2.0)
    assert [one.problems for one in found] == [[] for _ in found]
    assert found
