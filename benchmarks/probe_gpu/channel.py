"""Messages between processes: one JSON text a packet, a cap on its size, descriptors beside it.

What a worker sends is data to judge. It is never unpickled, and a reply must repeat the number
of its question. Times are seconds.
"""

import json
import socket
from typing import Any

CAP = 160_000  # bytes; a packet must fit the socket's buffer
MOST_FDS = 64


class Late(Exception):
    """No answer before the deadline."""


class Gone(Exception):
    """The other side ended."""


class BadReply(Exception):
    """The other side sent something else than was asked for."""


def pair() -> tuple["Channel", socket.socket]:
    """A channel and the raw end to hand to the other process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    return Channel(ours), theirs


class Channel:
    """One end of a connection; raises Late, Gone and BadReply."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            sock.setsockopt(socket.SOL_SOCKET, option, 4 * CAP)
        self.asked = 0

    def send(self, message: dict[str, Any], fds: tuple[int, ...] | list[int] = ()) -> None:
        try:
            socket.send_fds(self.sock, [json.dumps(message).encode()], list(fds))
        except OSError as problem:
            raise Gone(str(problem)) from problem

    def receive(self, seconds: float | None) -> tuple[dict[str, Any], list[int]]:
        self.sock.settimeout(seconds)
        try:
            text, fds, flags, _ = socket.recv_fds(self.sock, CAP, MOST_FDS)
        except TimeoutError as problem:
            raise Late(f"{seconds} s") from problem
        except OSError as problem:
            raise Gone(str(problem)) from problem
        if not text:
            raise Gone("closed")
        return self.parsed(text, flags), list(fds)

    @staticmethod
    def parsed(text: bytes, flags: int) -> dict[str, Any]:
        if flags & socket.MSG_TRUNC:
            raise BadReply("too long")
        try:
            message = json.loads(text)
        except ValueError as problem:
            raise BadReply(str(problem)) from problem
        if not isinstance(message, dict):
            raise BadReply(type(message).__name__)
        return message

    def ask(self, message: dict[str, Any], seconds: float, fds: list[int] | None = None) -> dict:
        """Sends a question and waits for the answer with the same number."""
        self.asked += 1
        self.send({**message, "number": self.asked}, fds or [])
        reply, _ = self.receive(seconds)
        if reply.get("number") != self.asked:
            raise BadReply(f"number {reply.get('number')!r}")
        return reply

    def close(self) -> None:
        self.sock.close()
