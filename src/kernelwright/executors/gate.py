"""Who may use the cores: many that build, or one that measures."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Many may build at once, or one may measure; who measures goes first."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._building = 0
        self._measuring = 0
        self._waiting = 0

    @contextmanager
    def build(self) -> Iterator[None]:
        """A turn shared with other builds."""
        with self._condition:
            self._condition.wait_for(lambda: not self._measuring and not self._waiting)
            self._building += 1
        try:
            yield
        finally:
            with self._condition:
                self._building -= 1
                self._condition.notify_all()

    @contextmanager
    def measure(self) -> Iterator[None]:
        """A turn alone."""
        with self._condition:
            self._waiting += 1
            self._condition.wait_for(lambda: not self._measuring and not self._building)
            self._waiting -= 1
            self._measuring += 1
        try:
            yield
        finally:
            with self._condition:
                self._measuring -= 1
                self._condition.notify_all()
