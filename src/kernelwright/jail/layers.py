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
NUMBERS = {
    "capset": (126, 91), "pivot_root": (155, 41), "seccomp": (317, 277), "clone": (56, 220),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "socket": (41, 198),
}  # fmt: skip
# The same everywhere.
_MOUNT_SETATTR = 442
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
    call(_MOUNT_SETATTR, -100, base.encode(), 0x8000, attributes, ctypes.c_size_t(32))
    for path in filter(os.path.lexists, (base + one for one in hidden)):
        if os.path.isdir(path):
            _mount("tmpfs", path, "tmpfs", READ_ONLY | NOSUID | NODEV, "size=4k,mode=755")
        else:
            _mount(base + DEVICES[0], path, "", BIND)
    for path in (*writable, folder):
        _bind(handles[path], base + path)
    _mount("tmpfs", f"{base}/dev/shm", "tmpfs", NOSUID | NODEV, "size=64m,mode=1777")
    os.chdir(base)
    call(number("pivot_root"), b".", b".")
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
    call(number("capset"), struct.pack("Ii", 0x20080522, 0), bytes(24))


def landlock(readable: list[str], writable: list[str], listed: list[str]) -> int:
    """Only these paths; no TCP, no signals to the outside where the kernel knows them.

    Returns:
        The version of the kernel's interface.
    """
    version = call(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1))
    every = (1 << (13 + (version >= 2) + (version >= 3) + (version >= 5))) - 1
    attributes = struct.pack("QQQ", every, 3, 3)[: 8 if version < 4 else 16 if version < 6 else 24]
    size = ctypes.c_size_t(len(attributes))
    ruleset = call(_LANDLOCK_CREATE, attributes, size, ctypes.c_uint(0))
    on_files = every & (0b111 | 1 << 14 | 1 << 15)  # execute, write, read, truncate, ioctl
    try:
        for paths, access in ((readable, 0b1101), (writable, every), (listed, 0b1000)):
            for path in filter(os.path.exists, paths):
                handle = os.open(path, os.O_PATH)
                allowed = access if os.path.isdir(path) else access & on_files
                call(_LANDLOCK_ADD, ruleset, 1, struct.pack("=Qi", allowed, handle), 0)
                os.close(handle)
        call(_LANDLOCK_ENTER, ruleset, ctypes.c_uint(0))
    finally:
        os.close(ruleset)
    return version


def limit(name: str, value: int) -> None:
    """Set one resource limit, not above what the process may have; SIGXCPU comes before SIGKILL."""
    kind = getattr(resource, f"RLIMIT_{name}")
    hard = resource.getrlimit(kind)[1]
    most = value + 1 if hard == resource.RLIM_INFINITY else hard
    resource.setrlimit(kind, (min(value, most), min(value + (name == "CPU"), most)))


def machine() -> tuple[int, int]:
    """The column of :data:`NUMBERS` for this machine, and what filters call it.

    Raises:
        OSError: it is neither.
    """
    name = os.uname().machine
    if name not in _MACHINES:
        raise OSError(f"unknown machine {name}")
    return _MACHINES[name]


def number(name: str) -> int:
    """Of a system call on this machine."""
    return NUMBERS[name][machine()[0]]


def call(number: int, *arguments: object) -> int:
    """What a system call gives; raises what its error stands for."""
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
