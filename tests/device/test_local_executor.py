"""The executor that really builds and judges keeps the contract of every executor."""

import shutil

import pytest

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.executors.local import LocalExecutor
from kernelwright.testing.executors import ExecutorContract
from tests.device import judging

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


class TestLocal(ExecutorContract):
    threads = 2

    @pytest.fixture(autouse=True)
    def _fresh(self, home, request):
        # Peaks are measured once; a candidate's first build in a test is a real one.
        self.folder, self.note = home, request.node.name

    def make(self):
        return LocalExecutor(threads=self.threads, cache=self.folder, baselines=("loop", "numpy"))

    def task(self):
        return judging.task()

    def good(self):
        return make_candidate(f"// {self.note}\n{judging.body(judging.RIGHT)}", "cpp")

    def broken(self):
        return make_candidate(judging.body("y[0] = 1;"), "cpp")
