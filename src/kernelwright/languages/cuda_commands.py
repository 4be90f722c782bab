"""With which commands a CUDA source becomes a plain C library, and what its compilers say of it.

No framework's headers: a kernel is called through C, so that a build takes a second or two.
"""

import re
from collections.abc import Mapping

from kernelwright.languages import allowed, compiler_log, ptxas
from kernelwright.languages.compilation import CONTRACT, LIBRARY, OBJECT, Job
from kernelwright.languages.macros import literal
from kernelwright.languages.nvcc import Nvcc, Target
from kernelwright.records.candidate import Value

SOURCE = "kernel.cu"
STANDARD = "-std=c++17"
HEADERS = ("cstdint", "cuda_bf16.h", "cuda_fp16.h", "cuda_fp8.h")
"""Read before every source: the types of the contract."""
_RUNTIME = ("-lcudart_static", "-lrt", "-lpthread", "-ldl")
_OF_LIBRARY = {
    "cublas_v2.h": "-lcublas", "cublas.h": "-lcublas", "cublasXt.h": "-lcublas",
    "cublasLt.h": "-lcublasLt", "cudnn.h": "-lcudnn", "cudnn_frontend.h": "-lcudnn",
    "cufft.h": "-lcufft", "curand.h": "-lcurand", "curand_kernel.h": "-lcurand",
    "cusolverDn.h": "-lcusolver", "cusolverSp.h": "-lcusolver", "cusparse.h": "-lcusparse",
}  # fmt: skip
"""Headers that are installed with a library, not with the compiler."""
_CONFLICT = re.compile(
    r"more than one instance of overloaded function|declaration is incompatible with"
    r"|cannot overload functions distinguished by return type"
    r"|exception specification is incompatible with"
)
_NO_HEADER = re.compile(r"^kernel\.cu:\d+:\d+: fatal error: ([\w.]+): No such file", re.MULTILINE)


def base_flags(target: Target, flags: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Flags with which a kernel is compiled, its header's last."""
    own = () if any(flag.startswith("-std=") for flag in flags) else (STANDARD,)
    return (*own, "-O3", target.option, "-Xcompiler=-fPIC", *flags)


def job(
    source: str,
    nvcc: Nvcc,
    target: Target,
    tunables: Mapping[str, Value],
    flags: tuple[str, ...] = (),
    needs: tuple[str, ...] = (),
    prototype: str = "",
) -> Job:
    """The job of one source with its values.

    Values are macros of the header that is read before the source, not options: nvcc hands its
    options to a shell, which changes texts, and options would hold in the system's headers too.
    The C++ compiler links: without device code across files there is nothing that it does not
    know how to link, and it is faster.
    """
    told = base_flags(target, flags)
    defines = [f"#define {name} {literal(value)}" for name, value in sorted(tunables.items())]
    includes = [f"#include <{name}>" for name in HEADERS]
    contract = "\n".join([*includes, *filter(None, [prototype]), *defines])
    # The same code must give the same bytes: no name of a private folder in names that nvcc makes
    # up, nor in line information.
    host = "-fno-ident,-Wno-builtin-macro-redefined,-frandom-seed=0,-fdiagnostics-color=never"
    quiet = [f"-Xcompiler={host}", "-Xptxas=-v"]
    quiet += [f'-D__{what}__=""' for what in ("DATE", "TIME", "TIMESTAMP")]
    quiet += ["-Xcudafe=--orig_src_path_name=/kernel.cu"] if nvcc.renames else []
    path = f"{compiler_log.HERE}{SOURCE}" if "-lineinfo" in flags else SOURCE
    compile_ = [nvcc.path, *told, "-ccbin", nvcc.host.path, *quiet]
    libraries = allowed.CUDA.options(needs)
    folders = [f"-L{folder}" for folder in nvcc.folders]
    # What the toolkit brings lies where no loader looks by itself.
    folders += [f"-Wl,-rpath,{folder}" for folder in nvcc.folders if needs]
    link = [nvcc.host.path, "-shared", OBJECT, "-o", LIBRARY, *folders, *libraries, *_RUNTIME]
    strict = ["-Wl,--build-id=none", "-Wl,-z,defs", "-Wl,--exclude-libs,ALL", "-s"]
    return Job(
        source=source,
        contract=f"{contract}\n",
        commands=(
            (*compile_, "-include", CONTRACT, "-c", path, "-o", OBJECT),
            (*link, *strict),
        ),
        flags=told,
        needs=tuple(libraries),
        file=SOURCE,
    )


def complaint(log: str, entry: str) -> tuple[str, bool]:
    """What went wrong, in one sentence; and whether the entry disagrees with the contract."""
    refused = ptxas.complaint(log)
    if refused:
        return refused, False
    reason = compiler_log.reason(log)
    # The line with the reason, and the line of the source that is shown below it.
    said = log[log.find(reason.partition(": ")[2] or reason) :].split("\n", 2)[:2]
    return reason, bool(_CONFLICT.search(reason)) and entry in " ".join(said)


def missing_header(job: Job, code: int | None, log: str) -> str:
    """A library that the job's header needs and whose own headers are not there; empty: none.

    Args:
        job: what was built.
        code: how its commands ended.
        log: what they printed; counts only where compiling failed, as for
            :func:`compilation.missing_library`.
    """
    said = _NO_HEADER.findall(log) if job.failed_at_compile(code) else []
    needed = (_OF_LIBRARY.get(name, "") for name in said)
    return next((option[2:] for option in needed if option and option in job.needs), "")
