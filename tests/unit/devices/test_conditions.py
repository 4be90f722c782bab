"""What a watch makes of what the system says; that what is ours is not called others' work."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from kernelwright.devices import conditions
from kernelwright.devices.conditions import Watch

TICKS = os.sysconf("SC_CLK_TCK")
ME = os.getpid()


class Machine:
    """Files as the system has them, and a clock; seconds are those of one core."""

    def __init__(self, folder, monkeypatch):
        self.proc, self.system = folder / "proc", folder / "cpu"
        self.now = 100.0
        self.busy, self.stolen = {0: 50.0, 1: 50.0, 7: 50.0}, 0.0
        self.processes = {ME: (1, 5.0), 9999999: (1, 60.0)}
        self.proc.mkdir()
        self.system.mkdir()
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
        monkeypatch.setattr(conditions.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(conditions.time, "sleep", self.pass_by)
        self.write()

    def pass_by(self, seconds):
        self.now += seconds
        self.write()

    def write(self):
        lines = [
            f"cpu{number} {int(busy * TICKS)} 0 0 9 9 0 0 {int(self.stolen * TICKS)} 0 0"
            for number, busy in self.busy.items()
        ]
        (self.proc / "stat").write_text("\n".join(["cpu 1 2 3 4 5 6 7 8 9 10", *lines, "intr 5"]))
        for pid, (parent, seconds) in self.processes.items():
            (self.proc / str(pid)).mkdir(exist_ok=True)
            zeros = " ".join(["0"] * 9)
            half = int(seconds * TICKS / 2)
            text = f"{pid} (a (b) c) R {parent} {zeros} {half} 0 {half} 0 20 0 1 0 5 0 0"
            (self.proc / str(pid) / "stat").write_text(text)

    def watch(self, before_s=0.0):
        return Watch(before_s, proc=self.proc, system=self.system)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return Machine(tmp_path, monkeypatch)


def test_what_is_ours_is_not_others_work(machine):
    machine.processes[ME + 1] = (ME, 1.0)
    machine.processes[ME + 2] = (ME + 1, 0.0)
    machine.write()
    watch = machine.watch()
    machine.busy = {0: 58.0, 1: 57.0, 7: 90.0}
    machine.processes |= {ME: (1, 6.0), ME + 1: (ME, 3.0), ME + 2: (ME + 1, 7.0)}
    machine.pass_by(10.0)
    found = watch.conditions()
    assert found.seconds == 10.0
    # 15 s of our two cores, 10 s of them ours; core 7 is not ours to run on.
    assert found.others == pytest.approx(0.5)
    assert found.others_before is None


def test_others_are_looked_at_before_when_somebody_waits(machine):
    def others_work(seconds):
        machine.busy[0] += 0.8 * seconds
        machine.now += seconds
        machine.write()

    machine.pass_by = others_work
    conditions.time.sleep = others_work
    found = machine.watch(0.5).conditions()
    assert found.others_before == pytest.approx(0.8)


def test_steal_is_a_share_of_the_cores_time(machine):
    watch = machine.watch()
    machine.stolen = 1.0  # on each core
    machine.pass_by(10.0)
    assert watch.conditions().steal == pytest.approx(0.1)


def test_others_are_never_less_than_none(machine):
    watch = machine.watch()
    machine.processes[ME] = (1, 9.0)
    machine.pass_by(10.0)
    assert watch.conditions().others == 0.0


def test_what_cannot_be_read_is_not_guessed(machine):
    (machine.proc / "stat").unlink()
    machine.write = lambda: None
    watch = machine.watch()
    machine.pass_by(1.0)
    found = watch.conditions()
    assert (found.others, found.steal, found.clock_mhz, found.governor) == (None, None, None, "")


def test_processes_that_are_hidden_are_not_called_others(machine):
    (machine.proc / str(ME) / "stat").unlink()
    machine.write = lambda: None
    watch = machine.watch()
    machine.pass_by(1.0)
    assert watch.conditions().others is None


def test_the_clock_and_what_chooses_it(machine):
    for number, khz in ((0, 3_000_000), (1, 3_200_000), (2, 3_400_000)):
        folder = machine.system / f"cpu{number}" / "cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_cur_freq").write_text(f"{khz}\n")
        (folder / "scaling_governor").write_text("schedutil\n")
    watch = machine.watch()
    for number in range(3):
        (machine.system / f"cpu{number}" / "cpufreq" / "scaling_cur_freq").write_text("2000000")
    machine.pass_by(1.0)
    found = watch.conditions()
    assert found.clock_mhz == (3200.0, 2000.0)
    assert found.governor == "schedutil"


def test_the_clock_of_a_machine_that_only_tells_it_elsewhere(machine):
    (machine.proc / "cpuinfo").write_text("model name: x\ncpu MHz\t\t: 2596.096\n")
    assert machine.watch().conditions().clock_mhz == (2596.096, 2596.096)


BUSY = """
import os, sys, time
def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass
child = os.fork()
spin(0.3)
if child: os.waitpid(child, 0)
"""


@pytest.mark.parametrize("waited", [True, False])
def test_a_real_tree_of_processes_is_ours(waited):
    watch = Watch()
    before = watch._ours()
    process = subprocess.Popen([sys.executable, "-I", "-c", BUSY])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and not yet waited for
    if waited:
        process.wait()
    used_s = (watch._ours() - before) / TICKS
    process.wait()
    assert used_s >= 0.5
