"""What the assembler of NVIDIA's machine code said: sizes of kernels, and what it refused.

A log is written by whoever wrote the source, in part: what is read here describes a kernel, and
nothing is decided by it.
"""

import re

from kernelwright.records.evaluation import KernelFacts

_ENTRY = re.compile(r"^ptxas info +: Compiling entry function '(\S{1,4096})'")
_PROPERTIES = re.compile(r"^(?:ptxas info +: )?Function properties for '?([^\s']{1,4096})")
_FRAME = re.compile(
    r"^ +(\d{1,9}) bytes stack frame, (\d{1,9}) bytes spill stores, (\d{1,9}) bytes spill loads"
)
_USED = re.compile(r"^ptxas info +: Used (\d{1,9}) registers(.*)")
_SHARED = re.compile(r"\b(\d{1,9})(?:\+(\d{1,9}))? bytes smem")
_COMPLAINT = re.compile(
    r"^(?:ptxas|nvcc) (?:\S+, line \d+; *)?(?:error|fatal) *: (?!Ptx assembly aborted)(.+)$",
    re.MULTILINE,
)
_NAME = re.compile(r"_Z\w+")
_HEXADECIMAL = re.compile(r"\b0x[0-9a-f]{1,16}\b")
_TYPES = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char",
    "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned", "l": "long",
    "m": "unsigned long", "x": "long long", "y": "unsigned long long", "f": "float", "d": "double",
}  # fmt: skip
_VALUE = re.compile(r"L([a-z])(n?)(\d{1,19})E")
_PART = re.compile(r"(\d{1,4})")


def kernels(log: str) -> tuple[KernelFacts, ...]:
    """Registers, spills, shared memory and stack of each kernel that was assembled with ``-v``.

    Functions that are called from a kernel and were not inlined are left out.
    """
    found: dict[str, dict[str, int]] = {}
    kernel = described = ""
    for line in log.splitlines():
        if entry := _ENTRY.match(line):
            kernel = entry[1]
            found[kernel] = {"registers": 0}
        elif of := _PROPERTIES.match(line):
            described = of[1]
        elif (frame := _FRAME.match(line)) and described in found:
            names = ("stack_bytes", "spill_store_bytes", "spill_load_bytes")
            found[described] |= dict(zip(names, map(int, frame.groups()), strict=True))
        elif (used := _USED.match(line)) and kernel:
            shared = _SHARED.search(used[2])
            size = sum(int(part or 0) for part in shared.groups()) if shared else 0
            found[kernel] |= {"registers": int(used[1]), "shared_bytes": size}
    return tuple(KernelFacts.model_validate({"name": name, **it}) for name, it in found.items())


def complaint(log: str) -> str:
    """The first thing that the assembler, or nvcc itself, refused, in one sentence; else empty."""
    found = _COMPLAINT.search(log)
    if not found:
        return ""
    said = _NAME.sub(lambda name: readable(name[0]), found[1].strip())
    return _HEXADECIMAL.sub(lambda number: str(int(number[0], 16)), said)[:300]


def readable(symbol: str) -> str:
    """A kernel's name as it is written: ``rows<128, true>`` for its symbol in a library.

    Arguments are left out, and so is what cannot be told simply.
    """
    if not symbol.startswith("_Z"):
        return symbol
    rest, parts = symbol[2:].removeprefix("N"), []
    while number := _PART.match(rest):
        end = number.end() + int(number[1])
        name, rest = rest[number.end() : end], rest[end:]
        if not name.startswith(("_INTERNAL_", "_GLOBAL__")):
            parts.append(name)
    if not parts or not parts[-1]:
        return symbol
    return "::".join(parts) + (_values(rest[1:]) if rest.startswith("I") else "")


def _values(rest: str) -> str:
    """The arguments of a template, in angle brackets; those that are no numbers as dots."""
    words = []
    while rest and not rest.startswith("E"):
        if value := _VALUE.match(rest):
            number = f"{'-' if value[2] else ''}{value[3]}"
            words.append(["false", "true"][number == "1"] if value[1] == "b" else number)
            rest = rest[value.end() :]
        elif part := _PART.match(rest):
            end = part.end() + int(part[1])
            words.append(rest[part.end() : end])
            rest = rest[end:]
        elif rest[0] in _TYPES:
            words.append(_TYPES[rest[0]])
            rest = rest[1:]
        else:
            words.append("…")
            break
    return f"<{', '.join(words)}>"
