"""Which part of a layer a device's driver does not survive: each layer is taken apart.

    python ablation.py RESULT FOLDER

Each trial is a forked process that confines itself, opens a device context and runs a kernel.
Nothing here judges a candidate. Times are seconds.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import isolation
from isolation import NOBODY, device_nodes, layers, own_proc, readable, split

HERE = Path(__file__).resolve().parent
Step = Callable[[], Any]
EVERYWHERE = ["/run", "/var", "/root", "/tmp", "/sys", "/proc", "/dev", "/etc", "/home"]


def use_device(cubin: Path) -> None:
    import device

    device.open_context()
    code = device.Code(cubin)
    code("spin", 1, 1, (1000, device.U64))
    device.synchronize()
    block = device.create_block(2 << 20)
    os.close(block.descriptor())


def trial(steps: list[Step], cubin: Path) -> dict[str, Any]:
    """What became of a process that took these steps and then used the device."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        told: dict[str, Any] = {}
        try:
            began = time.perf_counter()
            for step in steps:
                step()
            told["confine_s"] = time.perf_counter() - began
            use_device(cubin)
            told["device_s"] = time.perf_counter() - began
            told["threads"] = len(list(Path("/proc/self/task").iterdir()))
        except Exception as problem:  # noqa: BLE001 the error is the finding
            told["error"] = f"{type(problem).__name__}: {problem}"[:300]
        finally:
            os.write(theirs, json.dumps(told).encode())
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"error": "said nothing"}


def without(*names: str) -> Step:
    """The filter of system calls, with some of them allowed."""

    def step() -> None:
        for name in names:
            layers._NUMBERS.pop(name)
        layers.system_calls()

    return step


def filter_of(*names: str) -> Step:
    """Only these are denied, beside what the filter always denies."""

    def step() -> None:
        for name in [*layers._NUMBERS]:
            if name not in names and name not in {"clone", "seccomp"}:
                layers._NUMBERS.pop(name)
        layers.system_calls()

    return step


def locked(read: list[str], write: list[str]) -> Step:
    return lambda: layers.landlock(read, write, [])


def rooted(folder: str, more: list[str], nodes: list[str]) -> Step:
    seen = [*readable(), *more]
    return lambda: layers.private_root(folder, seen, nodes, [], False)


def rooted_pids(folder: str, more: list[str], nodes: list[str]) -> Step:
    seen = [*readable(), *more]
    return lambda: layers.private_root(folder, seen, nodes, [], True)


def trials(folder: str) -> dict[str, list[Step]]:
    """Trials by name; what follows a plus is granted beside what a layer usually grants."""
    nodes, seen = device_nodes(), [*layers.SYSTEM, "/proc", "/sys", *readable()]
    usual = [folder, *layers.DEVICES, "/dev/shm", "/dev", *nodes]
    found: dict[str, list[Step]] = {
        "nothing": [],
        "pids": [split],
        "pids+own_proc": [split, own_proc],
        "own_proc": [own_proc],
        "calls": [layers.system_calls],
        "landlock": [locked(seen, usual)],
        "landlock+read_all": [locked(["/"], usual)],
        "landlock+write_all": [locked(["/"], ["/"])],
        "mounts": [rooted(folder, [], nodes)],
        "mounts+sys": [rooted(folder, ["/sys"], nodes)],
        "mounts+sys+run+var": [rooted(folder, ["/sys", "/run", "/var"], nodes)],
        "mounts+pids": [split, rooted_pids(folder, [], nodes)],
        "mounts+pids+sys": [split, rooted_pids(folder, ["/sys"], nodes)],
        "mounts+dev": [rooted(folder, ["/sys"], ["/dev"])],
        "mounts+pids+dev": [split, rooted_pids(folder, ["/sys"], ["/dev"])],
    }
    for name in layers._NUMBERS:
        if name not in {"clone", "seccomp"}:
            found[f"calls+{name}"] = [without(name)]
            found[f"only:{name}"] = [filter_of(name)]
    found["only:none"] = [filter_of()]
    for path in EVERYWHERE:
        found[f"landlock+read_all+write:{path}"] = [locked(["/"], [*usual, path])]
    stack: list[Step] = [
        lambda: layers.unshare(layers.NEWNET | layers.NEWIPC),
        split,
        own_proc,
        lambda: layers.drop_user(NOBODY, []),
        layers.drop_capabilities,
        lambda: layers.prctl(layers.NO_NEW_PRIVS, 1),
        lambda: layers.prctl(layers.DUMPABLE, 0),
        isolation.limits,
    ]
    found["stack"] = stack
    found["stack+landlock_write:/proc"] = [
        *stack[:-2],
        locked(seen, [*usual, "/proc"]),
        *stack[-2:],
    ]
    found["stack+calls+socket"] = [*stack[:-1], without("socket"), stack[-1]]
    return found


def main() -> None:
    result, folder = Path(sys.argv[1]), Path(sys.argv[2])
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    for path in (folder, home):
        path.chmod(0o777)
    cubin = folder / "judge.cubin"
    build = "import device, pathlib, sys; device.compile_cubin(*map(pathlib.Path, sys.argv[1:]))"
    command = [sys.executable, "-c", build, "judge_kernels.cu", str(cubin)]
    subprocess.run(command, cwd=HERE, check=True)  # a fork of who compiled could not use the device
    cubin.chmod(0o644)
    rows: dict[str, Any] = {"nodes": {n: oct(Path(n).stat().st_mode) for n in device_nodes()},
                            "mounts": [line.split()[1:4] for line in
                                       Path("/proc/mounts").read_text().splitlines()],
                            "abstract": [line.split()[-1] for line in
                                         Path("/proc/net/unix").read_text().splitlines()
                                         if "@" in line]}  # fmt: skip
    for name, steps in trials(str(home)).items():
        rows[name] = trial(steps, cubin)
        print(name, json.dumps(rows[name]), flush=True)
    result.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
