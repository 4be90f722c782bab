"""Flags and libraries that a C++ candidate's header may ask for; anything else is refused."""

import re
from dataclasses import dataclass

from kernelwright.plugins import nearest

LIBRARIES: dict[str, tuple[str, ...]] = {
    "atomic": ("-latomic",),
    "blas": ("-lblas",),
    "cblas": ("-lcblas",),
    "dnnl": ("-ldnnl",),
    "mkl": ("-lmkl_rt",),
    "mvec": ("-lmvec",),
    "openblas": ("-lopenblas",),
    "tbb": ("-ltbb",),
}
_PACKAGES = {
    "blas": "libblas-dev", "dnnl": "libdnnl-dev", "mkl_rt": "libmkl-dev",
    "openblas": "libopenblas-dev", "tbb": "libtbb-dev",
}  # fmt: skip
"""In which a library lies in Debian and Ubuntu, where it is one of its own."""
_EXACT = (
    "-ffast-math", "-funsafe-math-optimizations", "-fassociative-math", "-freciprocal-math",
    "-ffinite-math-only", "-funroll-loops", "-funroll-all-loops", "-fpeel-loops", "-fsplit-loops",
    "-ftree-pre", "-fprefetch-loop-arrays", "-fipa-pta", "-fmodulo-sched", "-frename-registers",
    "-fschedule-insns", "-fomit-frame-pointer", "-fstrict-aliasing", "-ftree-vectorize",
    "-ftree-loop-im", "-floop-interchange", "-floop-unroll-and-jam", "-floop-nest-optimize",
)  # fmt: skip
_PATTERN = re.compile(
    r"-O[123]|-fno-[a-z0-9-]+|-mno-[a-z0-9.-]+|-mprefer-vector-width=(128|256|512|none)"
    r"|-std=(c|gnu)\+\+(17|20|23)|-ffp-contract=(fast|on|off)|-fvect-cost-model=(unlimited|dynamic|cheap|very-cheap)"
)
# They would change what the library is, not how fast it is.
_FORBIDDEN = re.compile(r"-fno-(pic|plt|visibility.*|openmp.*|stack-protector-.*|lto.*)")
FLAGS_IN_WORDS = ", ".join(
    (
        "-O1 to -O3",
        "-std=c++17, c++20 or c++23 and gnu++ alike",
        "-ffp-contract=fast, on or off",
        "-fvect-cost-model=unlimited, dynamic, cheap or very-cheap",
        "-mprefer-vector-width=128, 256, 512 or none",
        "-mno-*",
        "-fno-* but of pic, plt, visibility, openmp, stack-protector- and lto",
        *_EXACT,
    )
)


@dataclass(frozen=True)
class Refusal:
    """Why a header cannot be honoured."""

    reason: str
    hint: str


def how_to_install(library: str) -> str:
    """What to do about a library that the linker did not find."""
    package = _PACKAGES.get(library)
    named = f", in Debian and Ubuntu {package}" if package else ""
    return f"install its development files{named}; or take it out of the header's needs"


def refusal(flags: tuple[str, ...], needs: tuple[str, ...]) -> Refusal | None:
    """The first flag or library that is not allowed, or None."""
    for flag in flags:
        if flag not in _EXACT and (not _PATTERN.fullmatch(flag) or _FORBIDDEN.fullmatch(flag)):
            return Refusal(f"flag {flag!r} is not allowed", f"allowed: {FLAGS_IN_WORDS}")
    for need in needs:
        if need not in LIBRARIES:
            return Refusal(f"library {need!r} is not allowed", nearest(need, tuple(LIBRARIES)))
    return None
