"""Try each isolation layer in a fresh process: obtained, effective, at what cost?

`python -I -S layers.py NAME [--user]` prints one JSON line; with --user it first drops to an
unprivileged uid, after the interpreter has started. Standard library only.
"""

import contextlib
import ctypes
import errno
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import worker

NOTES: dict[str, object] = {}


@contextlib.contextmanager
def cost(name: str = "ms"):
    start = time.perf_counter()
    yield
    NOTES[name] = round((time.perf_counter() - start) * 1e3, 3)


def denied(action: Callable[[], object]) -> str:
    """Name of the error that the action meets, or an empty string where it is allowed."""
    try:
        action()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return ""


def in_child(action: Callable[[], object]) -> str:
    """Run in a forked child; returns what it returned, or how it ended."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, str(action()).encode())
        except (OSError, ValueError, MemoryError) as error:
            os.write(write, f"raised {error}".encode())
        os._exit(0)
    os.close(write)
    text = b""
    while part := os.read(read, 4096):
        text += part
    os.close(read)
    status = os.waitpid(pid, 0)[1]
    return text.decode() or (
        f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "nothing"
    )


def ordinary() -> bool:
    return os.geteuid() != 0


def entitle() -> None:
    """An ordinary user needs a user namespace before any other namespace."""
    if ordinary():
        worker.user_namespace()


def session() -> bool:
    with cost():
        worker.session()
    return os.getpgid(0) == os.getpid() == os.getsid(0)


def rlimits() -> bool:
    with cost():
        worker.limits(address_space=1 << 30, processes=1)
    NOTES["as"] = (
        in_child(lambda: denied(lambda: worker.map_memory(-1, 2 << 30, True)))
        if not ordinary()
        else denied(lambda: worker.map_memory(-1, 2 << 30, True))
    )
    NOTES["nofile"] = denied(lambda: [os.dup(0) for _ in range(300)])
    os.closerange(3, 300)
    NOTES["nproc"] = denied(lambda: os.fork() or os._exit(0))
    with tempfile.TemporaryFile() as file:
        NOTES["fsize"] = denied(lambda: os.pwrite(file.fileno(), b"x", 2 << 30))
    return NOTES["as"] == "ENOMEM" and NOTES["fsize"] == "EFBIG" and NOTES["nofile"] == "EMFILE"


def rlimit_cpu() -> bool:
    def spin() -> None:
        worker.resource.setrlimit(worker.resource.RLIMIT_CPU, (1, 1))
        while True:
            pass

    with cost("ms_until_killed"):
        NOTES["end"] = in_child(spin)
    return NOTES["end"] == "signal 9"


def oom_score() -> bool:
    with cost():
        worker.oom_first()
    return pathlib.Path("/proc/self/oom_score_adj").read_text().strip() == "1000"


def no_new_privileges() -> bool:
    with cost():
        worker.no_new_privileges()
    return "NoNewPrivs:\t1" in pathlib.Path("/proc/self/status").read_text()


def hidden_memory() -> bool:
    """A sibling of the same user reads /proc/PID/mem of this process, before and after."""
    secret = ctypes.create_string_buffer(b"secret")

    def read() -> str:
        with pathlib.Path(f"/proc/{parent}/mem").open("rb") as file:
            file.seek(ctypes.addressof(secret))
            return file.read(6).decode()

    def look() -> str:
        try:
            return read()
        except OSError as error:
            return errno.errorcode.get(error.errno or 0, "?")

    parent = os.getpid()
    worker.prctl(worker.SET_DUMPABLE, 1)
    NOTES["before"] = in_child(look)
    with cost():
        worker.hide_memory()
    NOTES["after"] = in_child(look)
    return NOTES["after"] in ("EACCES", "EPERM")


def subreaper() -> bool:
    with cost():
        worker.prctl(worker.SUBREAPER, 1)
    me = os.getpid()
    read, write = os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            time.sleep(0.05)
            os.write(write, str(os.getppid()).encode())
        os._exit(0)
    return int(os.read(read, 32)) == me


def user_namespace() -> bool:
    with cost():
        worker.user_namespace()
    NOTES["uid"] = os.getuid()
    return "CapEff:\t0000000000000000" not in pathlib.Path("/proc/self/status").read_text()


def pid_namespace() -> bool:
    """Kill process 1 of the namespace: does its child, in a session of its own, die with it?"""

    def tree(isolated: bool) -> str:
        read, write = os.pipe()
        middle = os.fork()
        if middle == 0:
            with contextlib.suppress(OSError):
                if isolated:
                    entitle()
                    worker.unshare(worker.NEWPID)
            init = os.fork()
            if init == 0:
                if os.fork() == 0:
                    os.setsid()
                    os.write(write, b"%d" % os.getpid())
                    time.sleep(3)
                    os._exit(0)
                time.sleep(3)
                os._exit(0)
            time.sleep(0.05)
            os.kill(init, signal.SIGKILL)
            os._exit(0)
        os.close(write)
        os.waitpid(middle, 0)
        NOTES.setdefault("pid_inside", os.read(read, 32).decode()) if isolated else os.read(
            read, 32
        )
        os.set_blocking(read, False)
        time.sleep(0.1)
        try:
            return "survives" if os.read(read, 1) else "dead"
        except BlockingIOError:
            return "survives"

    NOTES["without"] = tree(False)
    NOTES["with"] = tree(True)
    with cost("ms_userns"):
        entitle()
    with cost():
        worker.unshare(worker.NEWNS)
        worker.pid_namespace()
    NOTES["pids_seen"] = sum(entry.name.isdigit() for entry in pathlib.Path("/proc").iterdir())
    return NOTES["with"] == "dead" and os.getpid() == 1


def network_namespace() -> bool:
    def route() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))

    NOTES["before"] = denied(route) or "route"
    with cost("ms_userns"):
        entitle()
    with cost():
        worker.network_namespace()
    NOTES["after"] = denied(route) or "route"
    return NOTES["after"] == "ENETUNREACH"


def mount_namespace() -> bool:
    with cost("ms_userns"):
        entitle()
    with cost():
        worker.mount_namespace()
    NOTES["tmp_entries"] = len(list(pathlib.Path("/tmp").iterdir()))
    NOTES["tmp_write"] = denied(lambda: pathlib.Path("/tmp/x").write_text("x")) or "allowed"
    NOTES["usr_write"] = denied(lambda: pathlib.Path("/usr/x").write_text("x")) or "allowed"
    NOTES["undo"] = (
        denied(
            lambda: worker.syscall(
                442,
                -100,
                ctypes.c_char_p(b"/"),
                0x8000,
                ctypes.c_char_p(worker.struct.pack("QQQQ", 0, 1, 0, 0)),
                ctypes.c_size_t(32),
            )
        )
        or "allowed while capabilities are held"
    )
    return (
        NOTES["tmp_entries"] == 0
        and NOTES["tmp_write"] == "allowed"
        and NOTES["usr_write"] in ("EROFS", "EACCES")
    )


def landlock() -> bool:
    inside, outside = tempfile.mkdtemp(), tempfile.mkdtemp()
    own = pathlib.Path(inside, "a")
    start = time.perf_counter()
    worker.no_new_privileges()
    NOTES["abi"] = worker.landlock(write=(inside,))
    NOTES["ms"] = round((time.perf_counter() - start) * 1e3, 3)
    NOTES["own"] = denied(lambda: own.write_text("x")) or "allowed"
    NOTES["outside"] = denied(lambda: pathlib.Path(outside, "a").write_text("x")) or "allowed"
    NOTES["read_usr"] = denied(lambda: list(pathlib.Path("/usr").iterdir())) or "allowed"
    NOTES["read_outside"] = denied(lambda: list(pathlib.Path(outside).iterdir())) or "allowed"
    with socket.socket() as tcp:
        NOTES["tcp"] = denied(lambda: tcp.connect(("127.0.0.1", 9))) or "allowed"
    NOTES["kill_parent"] = denied(lambda: os.kill(os.getppid(), 0)) or "allowed"
    return NOTES["own"] == "allowed" and NOTES["outside"] == "EACCES"


def seccomp() -> bool:
    worker.no_new_privileges()
    with cost():
        worker.seccomp()
    NOTES["unshare"] = denied(lambda: worker.unshare(worker.NEWUSER))
    return NOTES["unshare"] == "EPERM"


def cgroup2() -> bool:
    mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    points = [fields[1] for fields in mounts if fields[2] == "cgroup2"]
    NOTES["v2"] = len(points)
    if not points:
        return False
    NOTES["controllers"] = pathlib.Path(points[0], "cgroup.controllers").read_text().split()
    folder = pathlib.Path(points[0], f"probe-{os.getpid()}")
    with cost():
        NOTES["mkdir"] = denied(folder.mkdir) or "allowed"
    if folder.exists():
        NOTES["kill_file"] = (folder / "cgroup.kill").exists()
        folder.rmdir()
    return NOTES["mkdir"] == "allowed" and {"memory", "pids"} <= set(NOTES["controllers"])


def drop_after_start() -> bool:
    """As root only.

    Leave root once the interpreter runs, then open a library, call it, import lazily, run g++.
    """
    with cost():
        if not ordinary():
            worker.drop_user()
    NOTES["uid"] = os.getuid()
    NOTES["cos"] = round(_cos(), 3)
    try:
        import fractions  # noqa: F401  a module not yet loaded

        NOTES["late_import"] = "works"
    except (ImportError, OSError) as error:
        NOTES["late_import"] = f"{type(error).__name__}: fails"
    NOTES["exec_python"] = (
        denied(lambda: subprocess.run([sys.executable, "-I", "-S", "-c", ""], check=False))
        or "works"
    )
    with tempfile.TemporaryDirectory() as folder, cost("gxx_ms"):
        source = pathlib.Path(folder, "a.cpp")
        source.write_text('extern "C" int f() { return 7; }')
        done = subprocess.run(
            ["/usr/bin/g++", "-shared", "-fPIC", "-o", f"{folder}/a.so", str(source)],
            capture_output=True,
            check=False,
        )
        NOTES["gxx"] = done.returncode == 0 and ctypes.CDLL(f"{folder}/a.so").f() == 7
    return os.getuid() != 0 and bool(NOTES["gxx"])


def _cos() -> float:
    cos = ctypes.CDLL("libm.so.6").cos
    cos.restype, cos.argtypes = ctypes.c_double, [ctypes.c_double]
    return cos(0.0)


def full_stack() -> bool:
    """Everything at once, then load a library from a sealed memfd and call it."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "a.cpp").write_text('extern "C" int f() { return 7; }')
        subprocess.run(
            ["/usr/bin/g++", "-shared", "-fPIC", "-o", f"{folder}/a.so", f"{folder}/a.cpp"],
            check=True,
        )
        image = pathlib.Path(folder, "a.so").read_bytes()
    fd = os.memfd_create("candidate", os.MFD_ALLOW_SEALING)
    os.write(fd, image)
    with cost():
        NOTES["steps"] = worker.full_stack()
    with cost("dlopen_ms"):
        answer = ctypes.CDLL(f"/proc/self/fd/{fd}").f()
    NOTES["write_tmp"] = denied(lambda: pathlib.Path("/tmp/x").write_text("x")) or "allowed"
    NOTES["fork"] = in_child(lambda: "works")
    NOTES["pid"], NOTES["uid"] = os.getpid(), os.getuid()
    return answer == 7


NAMES = [
    "session",
    "rlimits",
    "rlimit_cpu",
    "oom_score",
    "no_new_privileges",
    "drop_after_start",
    "user_namespace",
    "network_namespace",
    "mount_namespace",
    "pid_namespace",
    "landlock",
    "hidden_memory",
    "seccomp",
    "subreaper",
    "cgroup2",
    "full_stack",
]


def main() -> None:
    name = sys.argv[1]
    if "--user" in sys.argv and not ordinary():
        worker.drop_user()
        worker.prctl(worker.SET_DUMPABLE, 1)
    try:
        obtained = globals()[name]()
    except OSError as error:
        obtained, NOTES["error"] = False, str(error)
    print(
        json.dumps({"layer": name, "obtained": obtained, "uid": os.getuid(), **NOTES}), flush=True
    )
    os._exit(0)


if __name__ == "__main__":
    main()
