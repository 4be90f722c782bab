"""Flags and libraries that a candidate's header may ask for; anything else is refused."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from kernelwright.plugins import nearest


@dataclass(frozen=True)
class Refusal:
    """Why a header cannot be honoured."""

    reason: str
    hint: str


@dataclass(frozen=True)
class Allowed:
    """What the headers of one language may ask for."""

    libraries: Mapping[str, tuple[str, ...]]
    """What the linker is told, by the name that a header uses."""
    flags: tuple[str, ...]
    """Those that are written in one way only."""
    pattern: re.Pattern[str]
    """The others."""
    in_words: str
    """All of them, for people."""
    forbidden: re.Pattern[str] | None = None
    """What the pattern lets through and must not: what the library is, not how fast it is."""
    packages: Mapping[str, str] = field(default_factory=dict)
    """In which a library lies in Debian and Ubuntu, where it is one of its own."""

    def refusal(self, flags: tuple[str, ...], needs: tuple[str, ...]) -> Refusal | None:
        """The first flag or library that is not allowed, or None."""
        for flag in flags:
            if flag not in self.flags and not self._fits(flag):
                return Refusal(f"flag {flag!r} is not allowed", f"allowed: {self.in_words}")
        for need in needs:
            if need not in self.libraries:
                hint = nearest(need, tuple(self.libraries))
                return Refusal(f"library {need!r} is not allowed", hint)
        return None

    def options(self, needs: tuple[str, ...]) -> list[str]:
        """What the linker is told of these libraries."""
        return [option for need in needs for option in self.libraries[need]]

    def how_to_install(self, library: str) -> str:
        """What to do about a library that was not found."""
        package = self.packages.get(library)
        named = f", in Debian and Ubuntu {package}" if package else ""
        return f"install its development files{named}; or take it out of the header's needs"

    def _fits(self, flag: str) -> bool:
        banned = self.forbidden is not None and self.forbidden.fullmatch(flag)
        return not banned and self.pattern.fullmatch(flag) is not None


_CPP_FLAGS = (
    "-ffast-math", "-funsafe-math-optimizations", "-fassociative-math", "-freciprocal-math",
    "-ffinite-math-only", "-funroll-loops", "-funroll-all-loops", "-fpeel-loops", "-fsplit-loops",
    "-ftree-pre", "-fprefetch-loop-arrays", "-fipa-pta", "-fmodulo-sched", "-frename-registers",
    "-fschedule-insns", "-fomit-frame-pointer", "-fstrict-aliasing", "-ftree-vectorize",
    "-ftree-loop-im", "-floop-interchange", "-floop-unroll-and-jam", "-floop-nest-optimize",
)  # fmt: skip
CPP = Allowed(
    libraries={
        "atomic": ("-latomic",),
        "blas": ("-lblas",),
        "cblas": ("-lcblas",),
        "dnnl": ("-ldnnl",),
        "mkl": ("-lmkl_rt",),
        "mvec": ("-lmvec",),
        "openblas": ("-lopenblas",),
        "tbb": ("-ltbb",),
    },
    flags=_CPP_FLAGS,
    pattern=re.compile(
        r"-O[123]|-fno-[a-z0-9-]+|-mno-[a-z0-9.-]+|-mprefer-vector-width=(128|256|512|none)"
        r"|-std=(c|gnu)\+\+(17|20|23)|-ffp-contract=(fast|on|off)"
        r"|-fvect-cost-model=(unlimited|dynamic|cheap|very-cheap)"
    ),
    forbidden=re.compile(r"-fno-(pic|plt|visibility.*|openmp.*|stack-protector-.*|lto.*)"),
    in_words=", ".join(
        (
            "-O1 to -O3",
            "-std=c++17, c++20 or c++23 and gnu++ alike",
            "-ffp-contract=fast, on or off",
            "-fvect-cost-model=unlimited, dynamic, cheap or very-cheap",
            "-mprefer-vector-width=128, 256, 512 or none",
            "-mno-*",
            "-fno-* but of pic, plt, visibility, openmp, stack-protector- and lto",
            *_CPP_FLAGS,
        )
    ),
    packages={
        "blas": "libblas-dev",
        "dnnl": "libdnnl-dev",
        "mkl_rt": "libmkl-dev",
        "openblas": "libopenblas-dev",
        "tbb": "libtbb-dev",
    },
)

_CUDA_FLAGS = (
    "--use_fast_math", "-use_fast_math", "--extra-device-vectorization", "--restrict",
    "--expt-relaxed-constexpr", "--extended-lambda", "-lineinfo",
)  # fmt: skip
CUDA = Allowed(
    libraries={
        "cublas": ("-lcublas",),
        "cublasLt": ("-lcublasLt",),
        "cuda": ("-lcuda",),
        "cudnn": ("-lcudnn",),
        "cufft": ("-lcufft",),
        "curand": ("-lcurand",),
        "cusolver": ("-lcusolver",),
        "cusparse": ("-lcusparse",),
    },
    flags=_CUDA_FLAGS,
    pattern=re.compile(
        r"--?maxrregcount=([1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])|-std=c\+\+(17|20)"
        r"|--?(ftz|prec-div|prec-sqrt|fmad)=(true|false)|-Xptxas=(-O[123]|-dlcm=(ca|cg)"
        r"|--register-usage-level=(10|[0-9])|--allow-expensive-optimizations=(true|false))"
    ),
    in_words=", ".join(
        (
            "-maxrregcount=1 to 255",
            "-std=c++17 or c++20",
            "-ftz=, -prec-div=, -prec-sqrt= and -fmad= with true or false",
            (
                "-Xptxas=-O1 to -O3, -dlcm=ca or cg, --register-usage-level=0 to 10 or "
                "--allow-expensive-optimizations=true or false"
            ),
            *_CUDA_FLAGS,
        )
    ),
)
