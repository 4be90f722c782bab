"""Cores that others take, felt from a new process."""

from __future__ import annotations

import os
import subprocess
import sys

from kernelwright.devices import detect, occupied


def test_a_process_that_spins_on_every_core_is_felt():
    spins = [sys.executable, "-c", "while True: pass"]
    hogs = [subprocess.Popen(spins) for _ in range(2 * detect.cores())]
    try:
        crowded = min(occupied.lost_cores() for _ in range(3))
    finally:
        for one in hogs:
            one.kill()
            one.wait()
    assert 0.25 < crowded <= detect.cores()


def test_one_that_cannot_start_has_no_core(monkeypatch):
    monkeypatch.setattr(occupied.sys, "executable", "/nowhere/python")
    assert occupied.lost_cores() == detect.cores()


def test_it_says_a_share_for_each_core_and_leaves_nobody_behind():
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(occupied._PROGRAM), "0.001"],
        capture_output=True,
        check=True,
        text=True,
    )
    shares = [float(word) for word in done.stdout.split()]
    assert len(shares) == len(os.sched_getaffinity(0))
    assert all(0 <= share <= 1.05 for share in shares)
