"""With which commands a C++ source becomes a library, and what its compilers say of it."""

import re
from collections.abc import Mapping

from kernelwright.languages import allowed, compiler_log
from kernelwright.languages.compilation import CONTRACT, LIBRARY, OBJECT, REPORT, Job
from kernelwright.languages.macros import literal
from kernelwright.languages.toolchain import Toolchain, base_flags
from kernelwright.records.candidate import Value

SOURCE = "kernel.cpp"
REMARKED = "remarks.o"
_CONFLICT = re.compile(
    r"conflicting (declaration of C function|types for)|ambiguating new decl"
    r"|different exception specifier|exception specification in declaration"
)


def job(
    source: str,
    toolchain: Toolchain,
    tunables: Mapping[str, Value],
    flags: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    prototype: str = "",
) -> Job:
    """The job of one source with its values.

    Compiling and linking are two commands: with ``-ffast-math`` in the second, GCC links code
    that flushes denormals in the whole process.
    """
    openmp = toolchain.openmp == "yes"
    told = (*base_flags(toolchain.family, openmp), *flags)
    defines = [f"-D{name}={literal(value)}" for name, value in sorted(tunables.items())]
    quiet = ["-fPIC", "-fdiagnostics-color=never"]
    # The same code must give the same bytes.
    quiet += ["-fno-ident", "-Wno-builtin-macro-redefined"]
    quiet += [f'-D__{what}__=""' for what in ("DATE", "TIME", "TIMESTAMP")]
    if toolchain.family == "gcc":
        quiet += ["-fmax-errors=20", "-frandom-seed=0", f"-fopt-info-vec-all={REPORT}"]
    else:
        quiet += ["-ferror-limit=20", "-fno-caret-diagnostics"]
    include = ["-include", CONTRACT] if prototype else []
    steps = ["-c", SOURCE, "-o", OBJECT]
    libraries = allowed.CPP.options(needs)
    link = ["-shared", *(["-fopenmp"] if openmp else []), OBJECT, "-o", LIBRARY, *libraries]
    strict = ["-Wl,--build-id=none", "-Wl,-z,defs", "-s"]
    compiled = (toolchain.path, *told, *defines, *quiet, *include, *steps)
    told_of = [f"-R{kind}=loop-vectorize" for kind in ("pass", "pass-missed")]
    # Asked for remarks, Clang writes the places of OpenMP's constructs into the code.
    remarks = (*compiled[:-1], REMARKED, "-w", *told_of) if toolchain.family == "clang" else ()
    return Job(
        source=source,
        contract=f"#include <cstdint>\n{prototype}\n" if prototype else "",
        commands=(
            compiled,
            *([remarks] if remarks else []),
            (toolchain.path, *link, *strict),
        ),
        flags=told,
        needs=tuple(libraries),
        file=SOURCE,
    )


def complaint(log: str) -> tuple[str, bool]:
    """What went wrong, in one sentence; and whether the entry disagrees with the contract."""
    reason = compiler_log.reason(log)
    # What cannot be parsed disagrees with the contract too, later.
    return reason, bool(_CONFLICT.search(reason)) and CONTRACT in log
