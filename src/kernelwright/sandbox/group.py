"""Jails that end together: whoever lets work be done can end all of it at once.

The work itself need not know: what is started while a thread has joined a group belongs to it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from weakref import WeakSet

from kernelwright.errors import JudgeError
from kernelwright.sandbox.jailed import Jailed


class Group:
    """The jails started on behalf of one owner."""

    def __init__(self) -> None:
        self._members: WeakSet[Jailed] = WeakSet()
        self._lock = threading.Lock()
        self._ended = False

    @contextmanager
    def joined(self) -> Iterator[None]:
        """Jails that this thread starts in the body belong to the group."""
        token = _joined.set(self)
        try:
            yield
        finally:
            _joined.reset(token)

    def add(self, jailed: Jailed) -> None:
        """Take a jail in.

        Raises:
            JudgeError: the group has ended, and with it the jail.
        """
        with self._lock:
            ended = self._ended
            if not ended:
                self._members.add(jailed)
        if ended:
            jailed.kill()
            raise JudgeError("the work was ended from outside")

    def kill(self) -> None:
        """End every jail, and each that is started from now on; may be repeated."""
        with self._lock:
            self._ended = True
            members = list(self._members)
        for jailed in members:
            jailed.kill()


_joined: ContextVar[Group | None] = ContextVar("joined", default=None)


def enter(jailed: Jailed) -> Jailed:
    """The jail, as a member of the group that this thread has joined, if there is one.

    Raises:
        JudgeError: the group has ended, and with it the jail.
    """
    group = _joined.get()
    if group is not None:
        group.add(jailed)
    return jailed
