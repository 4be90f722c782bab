"""Messages between the processes of a judge: length-prefixed JSON and file descriptors.

What arrives is untrusted: it has a size cap and a deadline, and is never unpickled.
"""

import array
import json
import os
import socket
import struct
import time
from typing import Any

MAX_BYTES = 8 << 20
MAX_FDS = 8
_LENGTH = struct.Struct("<I")


class ChannelError(Exception):
    """The other side closed, sent garbage, or more than the cap."""


class ChannelTimeout(ChannelError):
    """The other side did not answer within its deadline."""


class Channel:
    """One end of a connected stream socket.

    Args:
        sock: a connected ``AF_UNIX`` stream socket; the channel owns it.
        cap: largest message accepted, in bytes.
    """

    def __init__(self, sock: socket.socket, cap: int = MAX_BYTES) -> None:
        self.sock = sock
        self.cap = cap

    @classmethod
    def pair(cls) -> tuple["Channel", socket.socket]:
        """A channel, and the raw inheritable end for a child process."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        theirs.set_inheritable(True)
        return cls(ours), theirs

    @classmethod
    def from_fd(cls, descriptor: int) -> "Channel":
        """The child's end, from an inherited descriptor."""
        return cls(socket.socket(fileno=descriptor))

    def send(self, message: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
        """Send one message.

        Raises:
            ChannelError: the other side is gone.
        """
        payload = json.dumps(message, separators=(",", ":")).encode()
        data = _LENGTH.pack(len(payload)) + payload
        self.sock.settimeout(30)
        try:
            if fds:
                packed = array.array("i", fds)
                sent = self.sock.sendmsg(
                    [data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, packed.tobytes())]
                )
                data = data[sent:]
            self.sock.sendall(data)
        except OSError as problem:
            raise ChannelError(f"cannot send: {problem}") from problem

    def receive(self, timeout: float | None = None) -> tuple[dict[str, Any], list[int]]:
        """The next message and the descriptors that came with it; the caller closes those.

        Args:
            timeout: seconds until :class:`ChannelTimeout`; None waits for ever.

        Raises:
            ChannelTimeout: nothing complete arrived in time.
            ChannelError: the other side closed, or sent something that is no message.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        fds: list[int] = []
        try:
            head = self._exactly(_LENGTH.size, deadline, fds)
            (length,) = _LENGTH.unpack(head)
            if length > self.cap:
                raise ChannelError(f"a message of {length} bytes, more than {self.cap}")
            message = json.loads(self._exactly(length, deadline, fds))
            if not isinstance(message, dict):
                raise ChannelError("a message that is no JSON object")
        except (ValueError, RecursionError) as problem:
            _close(fds)
            raise ChannelError(f"a message that is no JSON: {problem}") from problem
        except ChannelError:
            _close(fds)
            raise
        return message, fds

    def _exactly(self, size: int, deadline: float | None, fds: list[int]) -> bytes:
        data = bytearray()
        while len(data) < size:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise ChannelTimeout("no answer in time")
            self.sock.settimeout(left)
            try:
                part, new, _, _ = socket.recv_fds(self.sock, size - len(data), MAX_FDS)
            except TimeoutError:
                raise ChannelTimeout("no answer in time") from None
            except OSError as problem:
                raise ChannelError(f"cannot receive: {problem}") from problem
            fds.extend(new)
            if not part:
                raise ChannelError("closed by the other side")
            data += part
        return bytes(data)

    def close(self) -> None:
        """Close this end."""
        self.sock.close()


def _close(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)
