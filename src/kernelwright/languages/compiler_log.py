"""What a compiler printed, made fit to keep: bounded, without private paths, summed up."""

import re
from pathlib import Path

_CONTROL = re.compile(
    r"\x1b\[[0-9;]*[A-Za-z]|[^\S\n\t ]|[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)
_TEMPORARY = re.compile(r"\./(?:cc\w{6}|kernel-\w+|tmpxft_\w+-\d+_kernel)\.(\w+)\b")
_ERROR = re.compile(
    r"^(?:(?P<file>[^\s:][^:\n]*?)(?:\((?P<at>\d+)\))?:(?:(?P<line>\d+):(?:\d+:)?)? )?"
    r"(?:[\w+/.-]+: )?(?:fatal |catastrophic |internal )?error: (?P<what>.+)$",
    re.MULTILINE,
)
_SOURCES = ("kernel.cpp", "kernel.cu")
_LINKER = re.compile(r"(undefined reference to .+|cannot find -l[^\s:]+)")
_MISSING = re.compile(
    r"^[^:\n]*\bld(?:\.\w+)?: (?:error: )?(?:cannot find|unable to find library) -l([\w+.-]{1,60})",
    re.MULTILINE,
)
_VECTORISED = re.compile(
    r"^kernel\.cpp:(\d{1,9}):(\d+): (?:optimized: +loop vectorized|remark: vectorized loop)"
)
_SPECIAL = (
    (r"out of memory|virtual memory exhausted|bad_alloc|cannot allocate memory",
     "the compiler ran out of memory"),
    (r"internal compiler error|frontend command failed", "the compiler crashed"),
    (r"File size limit exceeded|file too large|signal 25", "the compiler's output is too large"),
    (r"ended by signal (\d+)|Killed signal", "the compiler was killed"),
)  # fmt: skip


HERE = "/proc/self/cwd/"
"""A name of the working folder that is the same in every build."""


def clean(text: str, folder: Path) -> str:
    """The text without colours, control characters, and names of private folders."""
    text = text.replace(HERE, "")
    for private, shown in ((str(folder.resolve()), "."), (str(folder), "."), (_home(), "~")):
        if len(private) > 1:
            text = text.replace(private, shown)
    return _TEMPORARY.sub(r"kernel.\1", _CONTROL.sub("", text))


def split_remarks(text: str) -> tuple[str, str]:
    """Messages and remarks on optimisation of a compiler that prints both on one stream."""
    remarks: list[str] = []
    rest: list[str] = []
    for line in text.splitlines(keepends=True):
        (remarks if ": remark: " in line else rest).append(line)
    return "".join(rest), "".join(remarks)


def reason(log: str) -> str:
    """One sentence: what went wrong."""
    for pattern, words in _SPECIAL:
        if re.search(pattern, log, re.IGNORECASE):
            return words
    found = _ERROR.search(log)
    if found and not _LINKER.search(log):
        line = found["line"] or found["at"]
        place = f"line {line}: " if found["file"] in _SOURCES and line else ""
        place = "at the end: " if found["file"] == "At end of source" else place
        return (place + found["what"].strip())[:300]
    linker = _LINKER.search(log)
    if linker:
        return linker[1].strip()[:300]
    lines = log.strip().splitlines()
    return lines[-1][:300] if lines else "the compiler failed without a word"


def missing_libraries(log: str) -> list[str]:
    """What a linker says that it could not find, as in ``-ltbb`` without ``-l``.

    Source text can make any step of a build say anything; see who asked for it before believing.
    """
    return _MISSING.findall(log)


def vectorised(report: str, source: str) -> int:
    """How many loops of the source the compiler says it vectorised."""
    lines = source.splitlines()
    found = filter(None, map(_VECTORISED.match, report.splitlines()))
    loops = {(int(place[1]), place[2]) for place in found}
    at = {line for line, _ in loops}
    # A loop under a pragma may be reported at the pragma, at itself, or at both.
    return sum(
        not lines[line - 1].lstrip().startswith("#") or _below(lines, line) not in at
        for line, _ in loops
        if 0 < line <= len(lines)
    )


def _below(lines: list[str], line: int) -> int:
    """The first line under that one which is no directive."""
    while line < len(lines) and lines[line - 1].lstrip().startswith("#"):
        line += 1
    return line


def _home() -> str:
    try:
        return str(Path.home())
    except RuntimeError:
        return ""
