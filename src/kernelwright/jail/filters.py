"""The filters of system calls, put together by hand; the standard library only.

A filter stays until the process ends, and every later one can only take away more. Linux only; the
numbers are those of x86-64 and AArch64.
"""

import ctypes
import struct

import layers  # type: ignore[import-not-found]

_FORKS: tuple[tuple[int, ...], ...] = ((57, 58), ())
"""``fork`` and ``vfork``, where there are any."""
# The same everywhere.
_IO_URING, _NEW_MOUNT, _CLONE3, _PIDFD_GETFD, _MOUNT_SETATTR = (425, 426, 427), 428, 435, 438, 442


def system_calls(*, processes: bool = True) -> None:
    """Deny what a kernel has no use for: sockets, tracing, namespaces, mounts, io_uring, bpf.

    Args:
        processes: whether it may start some, until :func:`no_more_processes` is called; else it is
            killed where it tries, by a signal of which its end tells. Threads may be started.
    """
    column, machine = layers.machine()
    number = {name: numbers[column] for name, numbers in layers.NUMBERS.items()}
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
    column, machine = layers.machine()
    code = _of(machine) + _threads_only(layers.number("clone"), column)
    # Flag 1: in all threads.
    _filter([*code, (0x06, 0, 0, 0x7FFF0000)], flags=1)


def _of(machine: int) -> list[tuple[int, int, int, int]]:
    """Lines that kill what calls by the numbers of another machine, and load the number."""
    return [(0x20, 0, 0, 4), (0x15, 1, 0, machine), (0x06, 0, 0, 0x80000000), (0x20, 0, 0, 0)]


def _filter(code: list[tuple[int, int, int, int]], flags: int = 0) -> None:
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    header = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(program))
    flags |= 4  # older kernels would otherwise slow the process down against Spectre
    other = layers.call(layers.number("seccomp"), ctypes.c_uint(1), ctypes.c_uint(flags), header)
    if other:
        raise OSError(f"thread {other} has a filter of its own")


def _threads_only(clone: int, column: int) -> list[tuple[int, int, int, int]]:
    kill, thread = 0x80000000, 0x10000
    code = [line for one in _FORKS[column] for line in ((0x15, 0, 1, one), (0x06, 0, 0, kill))]
    code += [(0x15, 0, 4, clone), (0x20, 0, 0, 16), (0x45, 1, 0, thread), (0x06, 0, 0, kill)]
    return [*code, (0x20, 0, 0, 0)]  # the number again: what follows asks for it
