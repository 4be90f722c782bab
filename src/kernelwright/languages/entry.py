"""Whether a library exports the function that a task asks for, and what to do where it does not."""

import re
from dataclasses import replace
from difflib import get_close_matches

from kernelwright.languages.base import BuildResult
from kernelwright.records.outcome import Outcome


def with_entry(result: BuildResult, entry: str) -> BuildResult:
    """The result, failed if the library lacks its entry."""
    if not result.passed or entry in result.symbols:
        return result
    mangled = re.compile(rf"_Z(N\w*?)?{len(entry)}{re.escape(entry)}[A-Z\W_a-z]")
    if any(mangled.match(symbol) for symbol in result.symbols):
        hint = f'declare {entry} extern "C": the library exports its C++ name'
    else:
        close = get_close_matches(entry, result.symbols, n=1)
        others = [symbol for symbol in result.symbols if not symbol.startswith("_")]
        hint = 'define it with extern "C", not static'
        if close:
            hint = f"it exports {close[0]!r}: rename that to {entry!r}"
        elif others:
            hint += f"; it exports {', '.join(others[:3])}: is it a kernel of another task?"
    reason = f"the library does not export {entry!r}"
    return replace(result, outcome=Outcome.SIGNATURE_ERROR, reason=reason, hint=hint, library=None)
