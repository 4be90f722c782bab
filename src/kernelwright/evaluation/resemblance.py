"""Results of timed calls that look like those of other calls, and are therefore looked at closely.

Contents differ in all calls, so equal pieces of two results mean that one may be a copy; they
need not, where a result is the same for many inputs. Refuses to judge: it only picks.
"""

from collections import deque

from kernelwright.evaluation.ring import Ring

BLOCKS = 16
"""So far back are results remembered."""


class Resemblance:
    """Remembers a piece of every result of the last blocks.

    Args:
        where: place of the piece, from 0 to 1; a secret.
    """

    def __init__(self, where: float) -> None:
        self._where = where
        self._seen: deque[set[bytes]] = deque(maxlen=BLOCKS)

    def look(self, ring: Ring, order: list[int]) -> int | None:
        """The last slot of a block whose result looks like another one's; None if none does.

        Args:
            ring: whose outputs were just written.
            order: slots of the block, in the order of their calls.
        """
        now: set[bytes] = set()
        found = None
        for slot in order:
            piece = ring.piece(slot, self._where)
            if len(set(piece)) > 1 and (piece in now or any(piece in one for one in self._seen)):
                found = slot
            now.add(piece)
        self._seen.append(now)
        return found
