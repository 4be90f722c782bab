"""The single layers of isolation, as raw system calls; the standard library only.

Each function confines the calling process, or raises ``OSError`` and leaves it as it was as far
as the kernel allows. In which order they go, and what a failure means, is decided in
``confine.py``. Linux only; the numbers are those of x86-64 and AArch64.
"""

# pathlib takes longer to import than all of this to run; the folders under /tmp and /dev/shm are
# places to mount on, in a namespace of our own.
# ruff: noqa: PTH103, PTH112, PTH114, PTH115, PTH120, PTH123
# ruff: noqa: PTH211, S108

import ctypes
import os
import resource
import struct

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
LIBC.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]

NEWNS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
PDEATHSIG, DUMPABLE, SUBREAPER, NO_NEW_PRIVS = 1, 4, 36, 38
BIND, RECURSIVE, PRIVATE, NOSUID, NODEV, NOEXEC = 0x1000, 0x4000, 0x40000, 0x2, 0x4, 0x8
READ_ONLY = 0x1
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/ld.so.cache",
    "/etc/alternatives", "/sys/devices/system/cpu", "/sys/devices/system/node",
)  # fmt: skip
"""What a compiler or a loaded library may need to read."""

# x86-64, AArch64
_NUMBERS = {
    "capset": (126, 91), "pivot_root": (155, 41), "seccomp": (317, 277), "clone": (56, 220),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "socket": (41, 198),
}  # fmt: skip
_FORKS: tuple[tuple[int, ...], ...] = ((57, 58), ())
"""``fork`` and ``vfork``, where there are any."""
# The same everywhere.
_IO_URING, _NEW_MOUNT, _CLONE3, _PIDFD_GETFD, _MOUNT_SETATTR = (425, 426, 427), 428, 435, 438, 442
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_ENTER = 444, 445, 446
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}


def checked(result: int, what: str) -> int:
    """``result``, or the error that it stands for."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def prctl(option: int, value: int = 0) -> None:
    """One of the options of ``prctl`` that take a number."""
    zero = ctypes.c_ulong(0)
    checked(LIBC.prctl(option, ctypes.c_ulong(value), zero, zero, zero), f"prctl {option}")


def unshare(flags: int) -> None:
    """Leave namespaces of the parent."""
    checked(LIBC.unshare(flags), "unshare")


def user_namespace() -> None:
    """What an ordinary user needs before any other namespace; keeps the ids."""
    uid, gid = os.getuid(), os.getgid()
    prctl(DUMPABLE, 1)  # else the maps below belong to root
    unshare(NEWUSER)
    for name, text in (("setgroups", "deny"), ("uid_map", uid), ("gid_map", gid)):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text if isinstance(text, str) else f"{text} {text} 1")


def private_root(
    folder: str, readable: list[str], writable: list[str], hidden: list[str], own_pids: bool
) -> None:
    """A root that holds nothing but the system's libraries, ``readable``, and ``folder``.

    Everything is read-only except ``folder`` and ``writable``; ``/dev/shm`` is a small private
    one. Ancestors of the folder are fresh folders, open to every user. Of what is ``hidden``,
    folders are empty and files too.
    """
    os.umask(0o022)
    base = "/tmp"
    sources = [path for path in (*SYSTEM, *DEVICES, *readable) if os.path.lexists(path)]
    unshare(NEWNS)
    _mount("none", "/", "", RECURSIVE | PRIVATE)
    # Opened now: what a handle shows must be part of the new namespace to be mounted again.
    handles = {path: os.open(path, os.O_PATH) for path in (*sources, *writable, folder)}
    _mount("tmpfs", base, "tmpfs", NOSUID | NODEV, "size=1m,mode=755")
    for path, handle in handles.items():
        _place(base, path, handle)
    for path in ("/proc", "/dev/shm"):
        os.makedirs(base + path, exist_ok=True)
    for path in sources:
        if not os.path.islink(base + path):
            _bind(handles[path], base + path)
    _proc(base, own_pids)
    attributes = struct.pack("QQQQ", 0x1 | 0x2, 0, 0, 0)  # read-only, nosuid
    _call(_MOUNT_SETATTR, -100, base.encode(), 0x8000, attributes, ctypes.c_size_t(32))
    for path in filter(os.path.lexists, (base + one for one in hidden)):
        if os.path.isdir(path):
            _mount("tmpfs", path, "tmpfs", READ_ONLY | NOSUID | NODEV, "size=4k,mode=755")
        else:
            _mount(base + DEVICES[0], path, "", BIND)
    for path in (*writable, folder):
        _bind(handles[path], base + path)
    _mount("tmpfs", f"{base}/dev/shm", "tmpfs", NOSUID | NODEV, "size=64m,mode=1777")
    os.chdir(base)
    _call(_number("pivot_root"), b".", b".")
    checked(LIBC.umount2(b".", 2), "leave the old root")
    os.chdir(folder)
    for handle in handles.values():
        os.close(handle)


def drop_user(uid: int, needed: list[str]) -> None:
    """From root to a user who can still reach ``needed``."""
    os.setgroups([])
    os.setresgid(uid, uid, 0)
    os.setresuid(uid, uid, 0)
    closed = [path for path in needed if not os.access(path, os.R_OK)]
    if closed:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        raise OSError(f"{closed[0]} is closed to other users")
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def drop_capabilities() -> None:
    """Nothing but the rights of an ordinary user, in any namespace."""
    _call(_number("capset"), struct.pack("Ii", 0x20080522, 0), bytes(24))


def landlock(readable: list[str], writable: list[str], listed: list[str]) -> int:
    """Only these paths; no TCP, no signals to the outside where the kernel knows them.

    Returns:
        The version of the kernel's interface.
    """
    version = _call(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1))
    every = (1 << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1
    attributes = struct.pack("QQQ", every, 3, 3)[: 8 if version < 4 else 16 if version < 6 else 24]
    size = ctypes.c_size_t(len(attributes))
    ruleset = _call(_LANDLOCK_CREATE, attributes, size, ctypes.c_uint(0))
    on_files = every & (0b111 | 1 << 14 | 1 << 15)  # execute, write, read, truncate, ioctl
    try:
        for paths, access in ((readable, 0b1101), (writable, every), (listed, 0b1000)):
            for path in filter(os.path.exists, paths):
                handle = os.open(path, os.O_PATH)
                allowed = access if os.path.isdir(path) else access & on_files
                _call(_LANDLOCK_ADD, ruleset, 1, struct.pack("=Qi", allowed, handle), 0)
                os.close(handle)
        _call(_LANDLOCK_ENTER, ruleset, ctypes.c_uint(0))
    finally:
        os.close(ruleset)
    return version


def system_calls(*, processes: bool = True) -> None:
    """Deny what a kernel has no use for: sockets, tracing, namespaces, mounts, io_uring, bpf.

    Args:
        processes: whether it may start some, until :func:`no_more_processes` is called; else it is
            killed where it tries, by a signal of which its end tells. Threads may be started.
    """
    column, machine = _machine()
    number = {name: numbers[column] for name, numbers in _NUMBERS.items()}
    clone = number.pop("clone")
    if processes:
        del number["seccomp"]  # what it can do to itself, ``prctl`` can do as well
    denied = [*number.values(), *_IO_URING, *range(_NEW_MOUNT, 434), _PIDFD_GETFD, _MOUNT_SETATTR]
    allow, refuse, absent = 0x7FFF0000, 0x50000 | 13, 0x50000 | 38
    code = _of(machine)
    code += [(0x35, 0, 1, 0x40000000), (0x06, 0, 0, refuse)]  # the x32 interface
    for one in denied:
        code += [(0x15, 0, 1, one), (0x06, 0, 0, refuse)]
    # The arguments of clone3 cannot be seen: without it, the C library uses clone.
    code += [(0x15, 0, 1, _CLONE3), (0x06, 0, 0, absent)]
    code += [] if processes else _threads_only(clone, column)
    code += [(0x15, 0, 3, clone), (0x20, 0, 0, 16), (0x45, 0, 1, 0x7E020000), (0x06, 0, 0, refuse)]
    _filter([*code, (0x06, 0, 0, allow)])


def no_more_processes() -> None:
    """From now on every thread of this process is killed with it where it tries to start one."""
    column, machine = _machine()
    code = _of(machine) + _threads_only(_number("clone"), column)
    # Flag 1: in all threads.
    _filter([*code, (0x06, 0, 0, 0x7FFF0000)], flags=1)


def _of(machine: int) -> list[tuple[int, int, int, int]]:
    """Lines that kill what calls by the numbers of another machine, and load the number."""
    return [(0x20, 0, 0, 4), (0x15, 1, 0, machine), (0x06, 0, 0, 0x80000000), (0x20, 0, 0, 0)]


def _filter(code: list[tuple[int, int, int, int]], flags: int = 0) -> None:
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    header = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program))
    # Flag 4: older kernels would otherwise slow the process down against Spectre.
    other = _call(_number("seccomp"), ctypes.c_uint(1), ctypes.c_uint(4 | flags), header)
    if other:
        raise OSError(f"thread {other} has a filter of its own")


def _threads_only(clone: int, column: int) -> list[tuple[int, int, int, int]]:
    kill, thread = 0x80000000, 0x10000
    code = [line for one in _FORKS[column] for line in ((0x15, 0, 1, one), (0x06, 0, 0, kill))]
    code += [(0x15, 0, 4, clone), (0x20, 0, 0, 16), (0x45, 1, 0, thread), (0x06, 0, 0, kill)]
    return [*code, (0x20, 0, 0, 0)]  # the number again: what follows asks for it


def limit(name: str, value: int) -> None:
    """Set one resource limit, not above what the process may have; SIGXCPU comes before SIGKILL."""
    kind = getattr(resource, f"RLIMIT_{name}")
    hard = resource.getrlimit(kind)[1]
    most = value + 1 if hard == resource.RLIM_INFINITY else hard
    resource.setrlimit(kind, (min(value, most), min(value + (name == "CPU"), most)))


def _machine() -> tuple[int, int]:
    name = os.uname().machine
    if name not in _MACHINES:
        raise OSError(f"unknown machine {name}")
    return _MACHINES[name]


def _number(name: str) -> int:
    return _NUMBERS[name][_machine()[0]]


def _call(number: int, *arguments: object) -> int:
    return checked(LIBC.syscall(ctypes.c_long(number), *arguments), f"system call {number}")


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    text = (source.encode(), target.encode(), kind.encode() or None)
    checked(LIBC.mount(*text, flags, data.encode() or None), f"mount {target}")


def _bind(handle: int, target: str) -> None:
    _mount(f"/proc/self/fd/{handle}", target, "", BIND | RECURSIVE)


def _place(base: str, path: str, handle: int) -> None:
    """Something at ``base + path`` to mount on, or the same link."""
    os.makedirs(os.path.dirname(base + path), exist_ok=True)
    if os.path.islink(path) and os.path.dirname(path) == "/":
        os.symlink(os.readlink(path), base + path)
    elif os.path.isdir(f"/proc/self/fd/{handle}"):  # the path itself may be hidden by now
        os.makedirs(base + path, exist_ok=True)
    else:
        os.close(os.open(base + path, os.O_CREAT, 0o644))


def _proc(base: str, own_pids: bool) -> None:
    try:
        if own_pids:
            return _mount("proc", f"{base}/proc", "proc", NOSUID | NODEV | NOEXEC)
    except OSError:
        pass  # a container that hides parts of /proc does not let us mount a whole one
    _mount("/proc", f"{base}/proc", "", BIND | RECURSIVE)
    return None
