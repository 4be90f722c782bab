"""What a worker's environment does to it, seen in a process that has it."""

import platform
import subprocess
import sys

import pytest

from kernelwright.evaluation.environment import environment

FAULTS = """
import ctypes, resource
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
for _ in range(2):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    place = libc.malloc(1 << 26)
    ctypes.memset(place, 1, 1 << 26)
    libc.free(place)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc")
def test_memory_that_was_freed_is_there_for_the_next_call(tmp_path):
    done = subprocess.run(
        [sys.executable, "-I", "-c", FAULTS],
        env=environment(1, tmp_path, tmp_path),
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = map(int, done.stdout.split())
    assert first > 1000
    assert second < first / 100
