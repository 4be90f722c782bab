"""What one input led to: a step for the store, and what to tell whoever watches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from kernelwright.search.observer import Observer
from kernelwright.store.step import Event, Step


@dataclass
class Decision:
    """Collected while an input is worked on."""

    step: Step = field(default_factory=Step)
    notices: list[Callable[[Observer], None]] = field(default_factory=list)
    """To be told once the step is committed."""

    def emit(self, kind: str, **data: object) -> None:
        """Store an event."""
        self.step.events.append(Event(kind, data))

    def notice(self, method: Callable[..., None], *about: object) -> None:
        """Tell the observer by one of its methods."""
        # The name, not the function: an observer overrides it.
        self.notices.append(partial(_call, method.__name__, about))


def _call(name: str, about: Sequence[object], observer: Observer) -> None:
    getattr(observer, name)(*about)
