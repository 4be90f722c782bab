"""JSON that tells when it was damaged: its last member is a hash of the rest and of its row.

A disk may return other bytes than were written, and a row with one changed digit still parses.
"""

import hashlib
import re

_SEAL = re.compile(r',?"seal":"([0-9a-f]{16})"\}\Z')


def seal(text: str, *beside: str | float) -> str:
    """A JSON object, sealed.

    Args:
        text: the object, without spaces at its end.
        beside: what stands in the same row and belongs to it: texts and numbers.
    """
    comma = "" if text == "{}" else ","
    return f'{text[:-1]}{comma}"seal":"{_digest(text, beside)}"}}'


def unsealed(text: str, *beside: str | float) -> str:
    """The object without its seal.

    Raises:
        ValueError: it is not what was sealed, or has no seal.
    """
    found = _SEAL.search(text)
    if found is None:
        raise ValueError("its seal is broken" if '"seal"' in text[-40:] else "it has no seal")
    plain = text[: found.start()] + "}"
    if _digest(plain, beside) != found[1]:
        raise ValueError("it is not what was written")
    return plain


def _digest(text: str, beside: tuple[str | float, ...]) -> str:
    # The database decides whether 1 comes back as 1 or as 1.0.
    words = [one if isinstance(one, str) else repr(float(one)) for one in beside]
    told = "\x1f".join([text, *words])
    return hashlib.sha256(told.encode("utf-8", "surrogateescape")).hexdigest()[:16]
