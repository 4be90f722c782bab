"""What a Python candidate leaves behind: the guards themselves are asked, at once."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import kernelwright

pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")
HEAD = """
import threading, time
from concurrent.futures import ThreadPoolExecutor
import guards
from refusal import Refusal

found = guards.Guards()
"""
JOINED = """
for _ in range(100):
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(sum, [range(3000)] * 2))
    found.finished()
"""
LEFT = """
threading.Thread(target=WORK, daemon=True).start()
try:
    found.finished()
except Refusal as problem:
    print(problem)
"""


def said(text):
    jail = Path(kernelwright.__file__).parent / "jail"
    code = f"import sys; sys.path.insert(0, {str(jail)!r})\n{HEAD}{text}"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_joined_threads_may_take_a_moment_to_leave():
    assert said(JOINED) == ""


@pytest.mark.parametrize(
    "work", ["lambda: time.sleep(5)", "lambda: all(one >= 0 for one in range(10**9))"]
)
def test_threads_that_sleep_or_compute_are_left_work(work):
    assert "1 threads more" in said(LEFT.replace("WORK", work))
