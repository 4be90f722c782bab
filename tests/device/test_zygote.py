"""Workers forked from a process in which torch is imported: as confined, and as surely ended."""

from __future__ import annotations

import os
import signal
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from kernelwright import sandbox
from kernelwright.checks.finding import Rejected
from kernelwright.evaluation.channel import Channel
from kernelwright.evaluation.environment import environment
from kernelwright.evaluation.python_worker import PythonWorker
from kernelwright.records.outcome import Outcome
from kernelwright.sandbox.zygote import Zygote

pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")


class Nursery:
    """A zygote, and workers that it forked."""

    def __init__(self, home):
        home.chmod(0o755)
        self.home = home
        self.zygote = Zygote(environment(2, home, home) | {"OPENBLAS_NUM_THREADS": "1"})
        self.count = 0

    def fork(self, mode="auto", **limits):
        self.count += 1
        folder = self.home / f"worker-{self.count}"
        folder.mkdir(mode=0o700)
        ours, theirs = Channel.pair()
        try:
            process = self.zygote.fork(
                theirs.fileno(),
                folder=folder,
                mode=mode,
                limits=sandbox.Limits(**limits),
                env={**environment(2, folder, folder), "ONLY_HERE": str(self.count)},
                readable=(self.home / "files",),
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return PythonWorker(process, ours, forbid=False)

    def load(self, worker, text):
        """Let a worker execute a text as its candidate."""
        folder = self.home / "files"
        folder.mkdir(exist_ok=True, mode=0o755)
        file = folder / f"{self.count}.py"
        file.write_text(f"{text}\ndef entry(*_): pass\n")
        message = {"library": str(file), "entry": "entry", "tunables": {}, "model": None}
        worker.load(message, 20)


@pytest.fixture(scope="module")
def nursery(tmp_path_factory):
    made = Nursery(tmp_path_factory.mktemp("nursery"))
    (made.home / "files").mkdir(mode=0o755)
    yield made
    made.zygote.close()


@pytest.fixture
def worker(nursery):
    made = nursery.fork()
    made.ready()
    yield made
    made.close()


def until(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_forked_worker_is_confined_like_one_that_was_started(nursery, worker):
    started = set(sandbox.probe()["active"])
    assert set(worker.process.confinement().active) == started


@pytest.mark.parametrize("mode", ["off", "auto", "require"])
def test_it_ends_when_it_is_closed(nursery, mode):
    worker = nursery.fork(mode)
    worker.ready()
    pid = worker.process.pid
    assert worker.process.poll() is None
    worker.close()
    assert worker.process.poll() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("mode", ["auto", "off"])
def test_what_it_starts_ends_with_it(nursery, mode):
    worker = nursery.fork(mode)
    worker.ready()
    nursery.load(worker, "import os, time\nif os.fork() == 0: os.setsid(); time.sleep(1000)")
    assert any(_in(one, nursery.home) for one in Path("/proc").glob("[0-9]*/cwd"))
    worker.close()
    until(lambda: not any(_in(one, nursery.home) for one in Path("/proc").glob("[0-9]*/cwd")))


def _in(link, home):
    try:
        return str(home) in str(link.readlink())
    except OSError:
        return False


def test_its_environment_is_its_own_and_scrubbed(nursery, worker, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    nursery.load(
        worker,
        "import os, sys, tempfile\n"
        "assert os.environ['ONLY_HERE'], dict(os.environ)\n"
        "assert os.environ['HOME'] == os.getcwd() == tempfile.gettempdir()\n"
        "assert 'SECRET_TOKEN' not in os.environ\n"
        "assert sys.argv[1:] == [] and sys.flags.isolated and sys.flags.no_site\n",
    )


def test_it_inherits_its_socket_and_nothing_else(nursery, worker):
    nursery.load(
        worker,
        "import os\n"
        "held = [n for n in os.listdir('/proc/self/fd') if os.path.exists(f'/proc/self/fd/{n}')]\n"
        "assert sorted(map(int, held))[:3] == [0, 1, 2] and len(held) == 4, held\n",
    )


def test_a_shadow_of_a_module_in_its_folder_is_not_found(nursery, worker):
    nursery.load(
        worker,
        "import os, pathlib\n"
        "for name in ('sitecustomize', 'usercustomize', 'colorsys'):\n"
        "    pathlib.Path(name + '.py').write_text('raise SystemExit')\n"
        "import colorsys\n"
        "assert 'lib' in colorsys.__file__\n",
    )


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSEGV])
def test_a_killed_worker_harms_neither_the_zygote_nor_its_siblings(nursery, worker, end):
    other = nursery.fork()
    other.ready()
    before = nursery.zygote.pid
    with pytest.raises(Rejected) as caught:
        nursery.load(other, f"import os\nos.kill(os.getpid(), {int(end)})")
    wanted = Outcome.CRASHED
    assert caught.value.finding.outcome is wanted
    other.close()
    nursery.load(worker, "import torch\nassert torch.ones(3).sum() == 3")
    assert nursery.zygote.pid == before


def test_a_zygote_that_died_is_started_again(nursery, worker):
    before = nursery.zygote.pid
    os.kill(before, signal.SIGKILL)
    until(lambda: nursery.zygote.pid == 0)
    nursery.load(worker, "")  # what it had forked goes on
    again = nursery.fork()
    again.ready()
    assert nursery.zygote.pid not in (0, before)
    again.close()


def test_what_cannot_be_imported_is_said(tmp_path, monkeypatch):
    from kernelwright.errors import PrerequisiteError
    from kernelwright.sandbox import python

    monkeypatch.setattr(python, "sites", lambda: (tmp_path,))
    with pytest.raises(PrerequisiteError, match=r"torch cannot be imported.*No module") as caught:
        Nursery(tmp_path).fork()
    assert "pip install" in caught.value.hint


def test_no_descriptor_is_left_behind(nursery, worker):
    before = sorted(one.name for one in Path("/proc/self/fd").iterdir())
    for _ in range(3):
        made = nursery.fork()
        made.ready()
        made.close()
    assert sorted(one.name for one in Path("/proc/self/fd").iterdir()) == before
