"""Values of tunables as macros of C-like text."""

import re

from kernelwright.records.candidate import Value

_PLAIN = re.compile(r"[A-Za-z0-9_ ./+-]")


def literal(value: Value) -> str:
    """A tunable's value as a macro that survives any context."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        return repr(value) if value >= 0 else f"({value!r})"
    letters = ((chr(byte), f"\\{byte:03o}") for byte in value.encode())
    return '"' + "".join(as_is if _PLAIN.match(as_is) else octal for as_is, octal in letters) + '"'
