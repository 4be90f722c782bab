"""Which libraries' threads are bound to a core each, by what they take from others."""

from __future__ import annotations

import pytest

from kernelwright.evaluation import cores
from kernelwright.languages.elf import Wants

USUAL = {"libgomp.so.1", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6"}


@pytest.mark.parametrize(
    ("symbols", "more", "expected"),
    [
        ({"GOMP_parallel", "expf"}, set(), True),
        ({"__kmpc_fork_call"}, {"libomp.so.5"}, True),
        ({"expf"}, set(), False),
        ({"GOMP_parallel", "pthread_create"}, set(), False),
        ({"GOMP_parallel", "_ZNSt6thread15_M_start_threadESt10unique_ptrI"}, set(), False),
        ({"GOMP_parallel", "dlopen"}, set(), False),
        ({"GOMP_parallel", "cblas_sgemm"}, {"libopenblas.so.0"}, False),
    ],
)
def test_only_those_that_have_no_other_threads(monkeypatch, tmp_path, symbols, more, expected):
    path = tmp_path / "kernel.so"
    path.write_bytes(b"")
    found = Wants(frozenset(symbols), frozenset(USUAL | more))
    monkeypatch.setattr("kernelwright.languages.elf.wants", lambda _: found)
    assert cores.only_openmp(path) is expected


def test_what_is_no_library_is_not_bound(tmp_path):
    path = tmp_path / "kernel.so"
    path.write_bytes(b"\x7fELF")
    assert not cores.only_openmp(path)


def test_a_process_is_held_to_as_many_cores_as_kernels_have_threads(monkeypatch):
    held = []
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {7, 2, 5})
    monkeypatch.setattr("os.sched_setaffinity", lambda _, kept: held.append(list(kept)))
    cores.hold(2)
    assert held == [[2, 5]]
