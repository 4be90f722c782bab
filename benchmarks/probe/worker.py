"""Untrusted timing worker of the probe: standard library only, one candidate, then killed.

It applies the sandbox steps to *itself*, single-threaded and before the candidate is loaded, so
no code runs between fork and exec. `layers.py` imports the same steps to try them one by one.
"""

import ctypes
import json
import mmap
import os
import resource
import socket
import struct
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
]
LIBC.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
LIBC.mount.argtypes = [
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_ulong,
    ctypes.c_char_p,
]
MAP_POPULATE = 0x8000
NEWNS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
PDEATHSIG, SET_DUMPABLE, SET_SECCOMP, SUBREAPER, NO_NEW_PRIVS = 1, 4, 22, 36, 38
NOBODY = 65534


def checked(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def prctl(option: int, value: int = 0, pointer: object = 0) -> int:
    third = pointer if pointer else ctypes.c_ulong(0)
    return checked(
        LIBC.prctl(option, ctypes.c_ulong(value), third, ctypes.c_ulong(0), ctypes.c_ulong(0)),
        f"prctl({option})",
    )


def syscall(number: int, *args: object) -> int:
    return checked(LIBC.syscall(ctypes.c_long(number), *args), f"syscall({number})")


def unshare(flags: int) -> None:
    checked(LIBC.unshare(flags), f"unshare({flags:#x})")


# ---- sandbox steps, in the order in which they are applied -------------------------------------


def session() -> None:
    """New session and process group.

    So that one killpg reaches every child that does not leave on purpose.
    """
    os.setsid()


def limits(address_space: int = 8 << 30, processes: int | None = None) -> None:
    wanted = {
        "AS": address_space,
        "CPU": 600,
        "FSIZE": 1 << 30,
        "NOFILE": 256,
        "CORE": 0,
        "NPROC": processes,
    }
    for name, value in wanted.items():
        if value is not None:
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))


def oom_first() -> None:
    with open("/proc/self/oom_score_adj", "w") as file:  # noqa: PTH123  pathlib costs start-up time here
        file.write("1000")


def user_namespace() -> None:
    """Needed only by an ordinary user.

    After a setuid the process must be dumpable again or the maps are not writable.
    """
    uid, gid = os.getuid(), os.getgid()
    prctl(SET_DUMPABLE, 1)
    unshare(NEWUSER)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
            file.write(text)


def network_namespace() -> None:
    unshare(NEWNET | NEWIPC)


def mount_namespace(private: tuple[str, ...] = ("/tmp", "/var/tmp", "/dev/shm")) -> None:
    """Everything read-only, then empty tmpfs over the writable folders.

    What lies under them is gone from here on.
    """
    unshare(NEWNS)
    checked(
        LIBC.mount(b"none", b"/", None, 0x4000 | 0x40000, None), "make mounts private"
    )  # MS_REC | MS_PRIVATE
    attributes = struct.pack("QQQQ", 0x1 | 0x2, 0, 0, 0)  # MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID
    syscall(
        442, -100, ctypes.c_char_p(b"/"), 0x8000, ctypes.c_char_p(attributes), ctypes.c_size_t(32)
    )  # AT_RECURSIVE
    for folder in private:
        if os.path.isdir(folder):  # noqa: PTH112
            checked(
                LIBC.mount(b"tmpfs", folder.encode(), b"tmpfs", 0x2 | 0x4, b"size=64m,mode=1777"),
                f"tmpfs {folder}",
            )


def pid_namespace(proc: bool = True) -> None:
    """The caller goes on as process 1 of a new namespace.

    Its former self waits and passes the exit on.
    """
    unshare(NEWPID)
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    if proc:
        checked(LIBC.mount(b"proc", b"/proc", b"proc", 0x2 | 0x4 | 0x8, None), "mount proc")


def drop_user(uid: int = NOBODY) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def drop_capabilities() -> None:
    header = struct.pack("Ii", 0x20080522, 0)
    syscall(126, ctypes.c_char_p(header), ctypes.c_char_p(bytes(24)))


def die_with_parent() -> None:
    """After the last change of uid, which clears it."""
    prctl(PDEATHSIG, 9)


def no_new_privileges() -> None:
    prctl(NO_NEW_PRIVS, 1)


def hide_memory() -> None:
    """No process of the same user may read this memory or ptrace.

    /proc/self/* then belongs to root.
    """
    prctl(SET_DUMPABLE, 0)


def landlock_abi() -> int:
    return syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint(1))


def landlock(
    read: tuple[str, ...] = ("/usr", "/lib", "/lib64", "/etc", "/proc", "/dev"),
    write: tuple[str, ...] = (),
) -> int:
    """Read-only outside `write`.

    No TCP, no signals or abstract sockets to the outside where the kernel knows them.
    """
    abi = landlock_abi()
    every = (1 << (13 + (abi >= 2) + (abi >= 3) + (abi >= 5))) - 1
    attributes = struct.pack("QQQ", every, 3, 3)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    ruleset = syscall(
        444, ctypes.c_char_p(attributes), ctypes.c_size_t(len(attributes)), ctypes.c_uint(0)
    )
    for folders, access in ((read, 0b1101), (write, every)):  # execute, read file, read folder
        for folder in folders:
            try:
                handle = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            rule = struct.pack("=Qi", access, handle)
            syscall(
                445, ctypes.c_int(ruleset), ctypes.c_int(1), ctypes.c_char_p(rule), ctypes.c_uint(0)
            )
            os.close(handle)
    syscall(446, ctypes.c_int(ruleset), ctypes.c_uint(0))
    os.close(ruleset)
    return abi


# x86-64: ptrace, process_vm_readv/writev, unshare, setns, mount, bpf, perf_event_open,
# userfaultfd, io_uring_setup, keyctl
FORBIDDEN = (101, 310, 311, 272, 308, 165, 321, 298, 323, 425, 250)


def seccomp() -> None:
    """A deny list answering EPERM; a process of a foreign architecture is killed."""
    code = [(0x20, 0, 0, 4), (0x15, 1, 0, 0xC000003E), (0x06, 0, 0, 0x80000000), (0x20, 0, 0, 0)]
    code += [(0x15, len(FORBIDDEN) - index, 0, number) for index, number in enumerate(FORBIDDEN)]
    code += [(0x06, 0, 0, 0x7FFF0000), (0x06, 0, 0, 0x00050000 | 1)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    header = ctypes.create_string_buffer(
        struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program))
    )
    prctl(SET_SECCOMP, 2, ctypes.c_void_p(ctypes.addressof(header)))


def full_stack() -> dict[str, float]:
    """Every step in the recommended order; returns milliseconds by step."""
    root = os.geteuid() == 0
    steps = [
        session,
        oom_first,
        limits,
        *([] if root else [user_namespace]),
        network_namespace,
        mount_namespace,
        pid_namespace,
    ]
    steps += [
        *([drop_user] if root else []),
        drop_capabilities,
        die_with_parent,
        no_new_privileges,
        landlock,
        hide_memory,
        seccomp,
    ]
    costs = {}
    for step in steps:
        start = time.perf_counter()
        step()
        costs[step.__name__] = round((time.perf_counter() - start) * 1e3, 3)
    return costs


# ---- the protocol: one JSON object a packet, descriptors beside it -----------------------------


def map_memory(fd: int, size: int, writable: bool) -> int:
    protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
    flags = (mmap.MAP_SHARED if fd >= 0 else mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) | MAP_POPULATE
    address = LIBC.mmap(None, size, protection, flags, fd, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), f"mmap of {size} bytes")
    return address


def flush_cache(address: int, size: int) -> None:
    """In pieces of 1 MiB.

    A larger memset takes non-temporal stores, which pass the cache by and flush nothing.
    """
    for start in range(0, size, 1 << 20):
        LIBC.memset(address + start, 0x5A, min(1 << 20, size - start))


def serve(channel: socket.socket) -> None:
    function, calls, flush_at, flush_size = None, [], 0, 0
    channel.send(json.dumps({"hello": os.getpid()}).encode())
    while True:
        packet, fds, _, _ = socket.recv_fds(channel, 65536, 4)
        if not packet:
            return
        message = json.loads(packet)
        reply: dict[str, object] = {"nonce": message["nonce"]}
        if message["op"] == "sandbox":
            reply["ms"] = full_stack()
        elif message["op"] == "load":
            library = ctypes.CDLL(
                f"/proc/self/fd/{fds[0]}"
            )  # a sealed memfd: no path has to stay visible
            function = getattr(library, message["entry"])
        elif message["op"] == "map":
            base_in = map_memory(fds[0], message["sizes"][0], writable=False)
            base_out = map_memory(fds[1], message["sizes"][1], writable=True)
            flush_size = message["flush"]
            flush_at = map_memory(-1, flush_size, writable=True)
            scalars = [ctypes.c_float(value) for value in message["scalars"]] + [
                ctypes.c_int64(axis) for axis in message["axes"]
            ]
            calls = [
                [ctypes.c_void_p(base_in + at) for at in inputs]
                + [ctypes.c_void_p(base_out + at) for at in outputs]
                + scalars
                for inputs, outputs in message["slots"]
            ]
        elif message["op"] == "run":
            policy, clock, times, codes = message["policy"], time.perf_counter_ns, [], 0
            if policy == "block":
                flush_cache(flush_at, flush_size)
            channel.send(json.dumps({"ready": message["nonce"]}).encode())
            channel.recv(256)
            for slot in message["order"]:
                if policy == "call":
                    flush_cache(flush_at, flush_size)
                arguments = calls[slot]
                start = clock()
                codes |= function(*arguments)
                times.append(clock() - start)
            reply.update(times=times, code=codes)
        for fd in fds:
            os.close(fd)
        channel.send(json.dumps(reply).encode())


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
