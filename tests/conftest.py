"""What holds for every test: its folder is its kind, and nothing of the user's is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

HERE = Path(__file__).parent
KINDS = ("unit", "device", "e2e", "exploits", "contracts", "golden", "gpu")
# Tests that time kernels must not run beside each other.
HOLDS_A_DEVICE = frozenset({"device", "e2e", "exploits", "gpu"})
# These build kernels, call them or ask the oracle, and never time anything or judge by a time:
# beside the others they are right as well, and the device is not kept waiting.
NEVER_TIMES = frozenset(
    f"tests/{file}.py"
    for file in (
        "device/test_answers",
        "device/test_cpp",
        "device/test_experts",
        "device/test_guards",
        "device/test_oracle",
        "device/test_oracle_rival",
        "device/test_oracle_serial",
        "device/test_oracle_torch",
        "device/test_sandbox",
        "device/test_sensing",
        "device/test_ship",
        "device/test_zygote",
        "e2e/test_bad_inputs",
    )
)
COUNT_DEVICES = """
import ctypes, sys
cuda, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
sys.exit(not (cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count))
"""

# A busy machine may take its time; on CI the same examples are tried every time.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@cache
def has_cuda_device() -> bool:
    """Asks the driver from another process: CUDA would not survive a later fork of this one."""
    asked = subprocess.run([sys.executable, "-c", COUNT_DEVICES], capture_output=True, check=False)
    return asked.returncode == 0


def kind_of(path: Path) -> str:
    """Returns the kind of the test file at `path`, the name of its folder below `tests/`."""
    parts = path.relative_to(HERE).parts
    if len(parts) < 2 or parts[0] not in KINDS:
        raise pytest.UsageError(
            f"{path.relative_to(HERE.parent)}: tests live in tests/<kind>/, kinds are "
            + ", ".join(KINDS)
        )
    return parts[0]


def shares_a_worker(file: str) -> bool:
    """Whether the tests of a file, named from the root, run one after another with their like."""
    return bool(HOLDS_A_DEVICE.intersection(file.split("/")[:2])) and file not in NEVER_TIMES


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(kind_of(item.path))
        if item.get_closest_marker("gpu") is not None and not has_cuda_device():
            item.add_marker(pytest.mark.skip(reason="needs a CUDA device"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log):
    """Hands tests out by file, and those that hold a device to one worker.

    pytest-xdist's own groups (`--dist loadgroup`) silently do nothing with pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByDevice(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return "device" if shares_a_worker(file) else file

    return ByDevice(config, log)


@pytest.fixture(scope="session", autouse=True)
def _nothing_of_the_user(tmp_path_factory):
    """Settings and caches of whoever runs the tests neither steer them nor are written by them."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("KERNELWRIGHT_")]:
            patch.delenv(name)
        home = tmp_path_factory.mktemp("user")
        for name in ("CACHE", "CONFIG", "DATA", "STATE"):
            patch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
        patch.setenv("NO_COLOR", "1")
        patch.delenv("FORCE_COLOR", raising=False)
        patch.setenv("COLUMNS", "100")
        yield
