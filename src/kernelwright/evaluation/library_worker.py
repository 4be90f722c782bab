"""The handle on a candidate that is a library: where its entry lies, whose code comes with it.

After calls the kernel's list of what the process has mapped is compared with the list from before
the candidate. Where the kernel hides it, the process is asked, and what it says is a claim.
"""

import os
from pathlib import Path
from typing import Any

from kernelwright.checks.finding import Finding, Rejected
from kernelwright.evaluation.channel import Channel
from kernelwright.evaluation.ending import Process
from kernelwright.evaluation.objects import INTERPRETER, RUNTIME, Mapped, executable, files, holder
from kernelwright.evaluation.worker import Worker
from kernelwright.records.outcome import Outcome

ASK_SECONDS = 20.0
MOST_NAMES = 64


class LibraryWorker(Worker):
    """A worker whose candidate is one library.

    Args:
        process: as for :class:`Worker`, like ``channel`` and ``label``.
        channel: our end of its socket.
        label: used in reasons.
        library: path of the file that it is to load; all that is made for it is two folders up.
        forbid: the task says that no other library than the language's may come with it.
    """

    def __init__(
        self,
        process: Process,
        channel: Channel,
        label: str = "the candidate",
        *,
        library: str,
        forbid: bool,
    ) -> None:
        super().__init__(process, channel, label)
        self._library = os.path.realpath(library)
        self._folder = str(Path(self._library).parents[1])
        self._forbid = forbid
        self._before: set[str] = set()

    def load(self, message: dict[str, Any], timeout: float) -> dict[str, Any]:
        """As for any worker; its entry must lie in the library itself.

        Raises:
            Rejected: as for any worker; ``kernel_did_not_run``.
        """
        self.alone = "system_calls" in self.sandbox.active
        self._before = set(files(self._mapped()))
        answer = super().load(message, timeout)
        mapped, at = self._mapped(), answer.get("at")
        home = holder(mapped, at) if isinstance(at, int) else None
        if mapped and (home is None or home.path != self._library):
            where = home.path or "memory that is no file's" if home else "no code"
            reason = f"the entry of {self.label} does not lie in its library but in {where}"
            raise Rejected(Finding(Outcome.KERNEL_DID_NOT_RUN, reason, {"entry": where}))
        if found := self._foreign(mapped):
            raise Rejected(found)
        return answer

    def left_behind(self) -> Finding | None:
        """As for any worker, and the code that it did not have before."""
        return super().left_behind() or self._foreign(self._mapped())

    def _foreign(self, mapped: list[Mapped]) -> Finding | None:
        """Code of others: refused where it was made here, or the task forbids it; else named."""
        come = files(mapped)
        added = [come[path] for path in come if path not in (*self._before, self._library)]
        for one in added:
            if one.made_in(self._folder):
                reason = f"{self.label} loaded code from {one.path}, not from its own library"
                return Finding(Outcome.KERNEL_DID_NOT_RUN, reason, {"loaded": one.path})
        others = [one for one in added if not one.path.startswith(INTERPRETER)]
        names = sorted({one.name for one in others} - RUNTIME)[:MOST_NAMES]
        if names:
            self.labels["libraries"] = names
        if names and self._forbid:
            reason = f"the task forbids libraries, and {self.label} has loaded {names[0]}"
            return Finding(Outcome.KERNEL_DID_NOT_RUN, reason, {"libraries": names})
        return None

    def _mapped(self) -> list[Mapped]:
        listing = self.census.code()
        if not listing:
            listing = str(self._ask_aside({"do": "code"}, ASK_SECONDS).get("code", ""))
        try:
            return executable(listing)
        except ValueError:
            raise Rejected(self._forgery()) from None
