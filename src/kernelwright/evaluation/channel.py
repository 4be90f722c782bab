"""Messages between the processes of a judge: length-prefixed JSON and file descriptors.

What arrives is untrusted: it has a size cap and a deadline, and is never unpickled. A request
carries a number that nobody can guess and that its answer must repeat, so that an answer which
comes too late, or from somebody else, is never taken for that of the next request.
"""

import array
import json
import os
import secrets
import socket
import struct
import time
from typing import Any

MAX_BYTES = 8 << 20
ORDER_BYTES = 64 << 20
"""Cap for what a trusted process is told: sources in JSON may take six bytes a letter."""
MAX_FDS = 8
GO, STAND_DOWN = b"g", b"x"
"""What a worker that is armed waits for."""
_LENGTH = struct.Struct("<I")


class ChannelError(Exception):
    """The other side closed, sent garbage, or more than the cap."""


class ChannelTimeout(ChannelError):
    """The other side did not answer within its deadline."""


class ChannelMixed(ChannelError):
    """What came is not the answer to what was asked."""


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
        """The end of a trusted child, from an inherited descriptor."""
        return cls(socket.socket(fileno=descriptor), ORDER_BYTES)

    def ask(
        self, request: dict[str, Any], timeout: float, fds: tuple[int, ...] = ()
    ) -> dict[str, Any]:
        """Send a request and wait for its answer.

        Args:
            request: what is asked.
            timeout: seconds until :class:`ChannelTimeout`; the channel must not be used after it.
            fds: descriptors that go with it.

        Raises:
            ChannelMixed: what came is no answer to this request.
            ChannelTimeout: nothing complete arrived in time.
            ChannelError: the other side is gone, or sent something that is no message.
        """
        number = secrets.token_hex(8)
        self.send({**request, "number": number}, fds)
        answer = self.message(timeout)
        if answer.pop("number", None) != number:
            raise ChannelMixed("an answer to another request")
        return answer

    def reply(self, request: dict[str, Any], answer: dict[str, Any]) -> None:
        """Answer a request.

        Raises:
            ChannelError: the other side is gone.
        """
        self.send({**answer, "number": request.get("number")})

    def told_to_go(self) -> bool:
        """Wait for the one byte that starts a block of calls, or calls it off.

        Raises:
            ChannelError: the other side is gone.
        """
        return self._exactly(1, None, []) == GO

    def raw(self, data: bytes) -> None:
        """Send bytes as they are.

        Raises:
            ChannelError: the other side is gone.
        """
        try:
            self.sock.sendall(data)
        except OSError as problem:
            raise ChannelError(f"cannot send: {_words(problem)}") from problem

    def report(self, size: int, timeout: float) -> bytes:
        """Exactly so many bytes.

        Raises:
            ChannelTimeout: they did not arrive in time.
            ChannelError: the other side closed.
        """
        fds: list[int] = []
        try:
            return self._exactly(size, time.monotonic() + timeout, fds)
        finally:
            _close(fds)

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
            raise ChannelError(f"cannot send: {_words(problem)}") from problem

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

    def message(self, timeout: float) -> dict[str, Any]:
        """The next message; descriptors that came with it are closed; raises as receive does."""
        found, fds = self.receive(timeout)
        _close(fds)
        return found

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
                raise ChannelError(f"cannot receive: {_words(problem)}") from problem
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


def _words(problem: OSError) -> str:
    """What the system says, without its number."""
    return (problem.strerror or str(problem)).lower()
