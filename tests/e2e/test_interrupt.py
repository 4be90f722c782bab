"""Ctrl-C at any moment: no process, no temporary file, nobody who holds the run."""

import os
import random
import signal
import time

import pytest

from kernelwright.store.store import Store
from tests.device.leftovers import Leftovers
from tests.e2e.conftest import GOOD

WORDS = ("optimize", "poly", "--start", "many.cpp", "--proposer", "tune", "--minutes", "1")
MOMENTS = [0.8, 1.2, 1.7, 2.3, 3.0, 4.0, 5.5, 7.5, 10.0]


@pytest.fixture
def left(folder):
    many = ", ".join(map(str, range(64)))
    source = GOOD.replace("[1, 2]", f"[1, 2]\n// tune.X = [{many}]")
    folder.write("many.cpp", source.replace("return 0;", "volatile int kept = X; return kept - X;"))
    place = folder.path / "tmp"
    place.mkdir(exist_ok=True)
    place.chmod(0o777)
    with Leftovers(place) as found:
        yield found


def interrupted(folder, moment, times=1):
    process = folder.start(*WORDS, TMPDIR=str(folder.path / "tmp"))
    time.sleep(moment)
    for _ in range(times):
        os.kill(process.pid, signal.SIGINT)
        time.sleep(0.1)
    _, err = process.communicate(timeout=60)
    return process.returncode, err


@pytest.mark.parametrize("moment", MOMENTS)
def test_once(folder, left, moment):
    code, err = interrupted(folder, moment + random.random() / 4)
    assert left.found() == [], err
    assert code == 130, err
    assert "Traceback" not in err
    held(folder)


@pytest.mark.parametrize("moment", MOMENTS[::3])
def test_twice(folder, left, moment):
    _, err = interrupted(folder, moment + random.random() / 4, times=2)
    assert left.found() == [], err
    held(folder)


def held(folder):
    """Nobody holds a run, and the last one that was begun goes on."""
    store = Store.open(str(folder.path / "runs.db"))
    found = [(run.id, store.owner(run.id)[0], run.status) for run in store.runs()]
    store.close()
    assert all(not owner for _, owner, _ in found), found
    assert all(status in ("interrupted", "running") for _, _, status in found), found
