"""Building CUDA with a real nvcc: what succeeds, what fails and how it is told, what is kept.

No GPU is needed: nothing is loaded or run.
"""

import hashlib
import subprocess
from pathlib import Path

import pytest

from kernelwright import sandbox
from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.errors import PrerequisiteError, UsageError
from kernelwright.languages import nvcc
from kernelwright.languages.base import BuildLimits
from kernelwright.languages.cuda import Cuda
from kernelwright.languages.elf import wants
from kernelwright.records.outcome import Outcome
from kernelwright.tasks import contract
from kernelwright.tasks.load import load_task

AVAILABLE = Cuda(arch="sm_90a").available()
pytestmark = pytest.mark.skipif(not AVAILABLE.ok, reason=AVAILABLE.reason or "-")

PROTOTYPE = """#define DTYPE_T __nv_bfloat16
extern "C" int scale(const __nv_bfloat16* x, __nv_bfloat16* y, int64_t N, cudaStream_t stream);"""
ARGUMENTS = "const DTYPE_T* x, DTYPE_T* y, int64_t N, cudaStream_t stream"
SCALE = """// /// kernelwright
// tune.FACTOR = [2, -3]
// tune.LABEL = ["plain", "a \\"b\\" $HOME `id` \\\\c"]
// ///
#ifndef DTYPE_T
#define DTYPE_T float
#endif
template <int F> __global__ void rows(const DTYPE_T* x, DTYPE_T* y, int64_t n) {
  __shared__ float held[64];
  int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  held[threadIdx.x] = i < n ? F * float(x[i]) : 0;
  __syncthreads();
  if (i < n) y[i] = DTYPE_T(held[threadIdx.x] + 0 * held[threadIdx.x ^ 1]);
}
extern "C" const char* label() { return LABEL; }
extern "C" int scale(const DTYPE_T* x, DTYPE_T* y, int64_t N, cudaStream_t stream) {
  rows<FACTOR><<<(N + 63) / 64, 64, 0, stream>>>(x, y, N);
  return cudaGetLastError();
}
"""
ENTRY = f'extern "C" int scale({ARGUMENTS}) {{ return 0; }}\n'
SPILLING = """// /// kernelwright
// flags = ["-maxrregcount=32"]
// ///
__global__ void many(const float* x, float* y) {
  float held[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) held[i] = x[i * 32 + threadIdx.x];
  for (int round = 0; round < 9; ++round) {
#pragma unroll
    for (int i = 0; i < 96; ++i) held[i] = held[i] * held[(i * 7 + 1) % 96] + round;
  }
#pragma unroll
  for (int i = 0; i < 96; ++i) y[i * 32 + threadIdx.x] = held[i];
}
"""


@pytest.fixture(scope="module")
def cuda(tmp_path_factory):
    return Cuda(cache=tmp_path_factory.mktemp("cache"), arch="sm_90a")


def fresh(folder):
    return Cuda(cache=folder, arch="sm_90a")


def build(cuda, source, tunables=None, entry="scale", prototype=PROTOTYPE, **options):
    candidate = make_candidate(source, "cuda", tunables)
    return cuda.build(candidate, entry=entry, prototype=prototype, **options)


def test_what_is_built_is_a_plain_library(cuda):
    result = build(cuda, SCALE)
    assert result.passed, (result.reason, result.build.log)
    assert result.symbols == ("label", "scale")
    data = result.library.read_bytes()
    assert result.build.binary == hashlib.sha256(data).hexdigest()
    assert result.build.compiler == cuda.toolchain.version
    found = wants(data).libraries
    assert not any("cuda" in name or "torch" in name or "python" in name for name in found), found


def test_the_assembler_says_what_a_kernel_takes(cuda):
    build_ = build(cuda, SCALE).build
    (kernel,) = build_.kernels
    assert kernel.name.startswith("_Z4rowsILi2E")
    assert kernel.registers == build_.registers > 0
    assert kernel.shared_bytes == build_.shared_bytes == 256
    assert build_.spill_bytes == 0


def test_spills_are_seen(cuda):
    build_ = build(cuda, SPILLING + ENTRY).build
    (kernel,) = build_.kernels
    assert kernel.registers <= 32
    assert kernel.spill_store_bytes > 0
    assert kernel.stack_bytes > 0
    assert build_.spill_bytes == kernel.spill_store_bytes + kernel.spill_load_bytes


def test_values_arrive_unharmed(cuda):
    text = 'a "b" $HOME `id` \\c'
    result = build(cuda, SCALE, {"FACTOR": -3, "LABEL": text})
    assert result.passed, result.reason
    assert text.encode() + b"\0" in result.library.read_bytes()
    assert "Lin3E" in result.build.kernels[0].name


def test_the_contract_says_what_a_type_is(cuda):
    bf16 = build(cuda, SCALE)
    wide = build(cuda, SCALE, prototype=PROTOTYPE.replace("__nv_bfloat16", "float"))
    assert bf16.passed
    assert wide.passed, wide.reason
    assert "13__nv_bfloat16" in bf16.build.kernels[0].name
    assert "13__nv_bfloat16" not in wide.build.kernels[0].name
    assert build(cuda, SCALE, prototype="").passed, "a source compiles alone, too"


def test_every_task_has_a_contract_that_compiles(cuda):
    task = load_task("attention", inspector=None)
    prototype = contract.prototype(task, "cuda")
    definition = prototype.splitlines()[-1].removesuffix(";")
    result = build(cuda, f"{definition} {{ return 0; }}\n", entry=task.entry, prototype=prototype)
    assert result.passed, (result.reason, result.build.log)


def test_building_happens_in_the_sandbox(cuda, tmp_path):
    result = build(fresh(tmp_path), ENTRY)
    assert set(result.sandbox.active) == set(sandbox.probe()["active"])


def test_equal_code_is_an_equal_binary(cuda, tmp_path):
    first = build(cuda, SCALE)
    again = build(fresh(tmp_path / "a"), SCALE.replace("  rows<", "  // a note\n\n  rows<"))
    assert not again.build.cached
    assert again.build.binary == first.build.binary
    assert b"kernelwright" not in first.library.read_bytes()


def test_no_place_and_no_time_gets_into_a_binary(tmp_path):
    source = (
        '// /// kernelwright\n// flags = ["-lineinfo"]\n// ///\n'
        "namespace { __device__ float held[32];\n"
        "__global__ void rows(float* y) { y[threadIdx.x] = held[threadIdx.x]++; } }\n"
        'extern "C" const char* stamp() { return __DATE__ __TIME__ __TIMESTAMP__ __FILE__; }\n'
        f'extern "C" int scale({ARGUMENTS}) {{ rows<<<1, 32>>>((float*)y); return 0; }}\n'
    )
    first, second = (build(fresh(tmp_path / name), source) for name in "ab")
    assert first.passed, first.reason
    assert not second.build.cached
    assert first.build.binary == second.build.binary
    assert b"kernelwright-build" not in first.library.read_bytes()


def test_a_second_build_comes_from_the_cache(tmp_path):
    cuda = fresh(tmp_path)
    first, second = build(cuda, SCALE), build(cuda, SCALE)
    assert (first.build.cached, second.build.cached) == (False, True)
    assert second.library == first.library
    assert second.build.model_copy(update={"cached": False, "seconds": 0.0}) == (
        first.build.model_copy(update={"seconds": 0.0})
    )
    assert build(cuda, SCALE, entry="gone").outcome is Outcome.SIGNATURE_ERROR
    other = Cuda(cache=tmp_path, arch="sm_80")
    assert not build(other, SCALE).build.cached


# --- failures ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("#error no way\n", "line 1: "),
        ("\n\nint f( {\n", "at the end: expected"),
        ("\n\nint x = ;\n", "line 3: expected an expression"),
        ('#include "nothing.h"\n', "line 1: nothing.h"),
        ('extern "C" int g();\n' + ENTRY.replace("return 0", "return g()"), "undefined reference"),
        (
            "extern __device__ float g(float);\n__global__ void k(float* y) { *y = g(*y); }\n"
            + ENTRY,
            "Unresolved extern function 'g",
        ),
        (
            '__global__ void k(float* y) { asm("bad.op.f32 %0;" :: "f"(*y)); }\n' + ENTRY,
            "Unknown modifier '.op'",
        ),
        (
            "__global__ void big(float* y) {\n  __shared__ float held[60000];\n"
            "  held[threadIdx.x] = *y;\n  __syncthreads();\n  *y = held[threadIdx.x * 7];\n}\n"
            + ENTRY,
            "Entry function 'big' uses too much shared data (240000 bytes, ",
        ),
    ],
)
def test_mistakes_are_named(cuda, source, reason):
    result = build(cuda, source)
    assert result.outcome is Outcome.BUILD_ERROR, result.build.log
    assert reason in result.reason
    assert bool(result.hint) == ("shared data" in reason)
    assert result.library is None


@pytest.mark.parametrize(
    "arguments",
    [
        "const DTYPE_T* x, DTYPE_T* y, int N, cudaStream_t stream",
        "const DTYPE_T* x, float* y, int64_t N, cudaStream_t stream",
        "const DTYPE_T* x, DTYPE_T* y, int64_t N",
    ],
)
def test_other_arguments_than_the_contract_are_a_signature_error(cuda, arguments):
    result = build(cuda, f'extern "C" int scale({arguments}) {{ return 0; }}\n')
    assert result.outcome is Outcome.SIGNATURE_ERROR, (result.reason, result.build.log)
    assert "differ from the contract" in result.reason


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (ENTRY.replace("int scale", "void scale"), "differ from the contract"),
        (ENTRY.replace(") {", ") noexcept {"), "must not be marked noexcept"),
    ],
)
def test_what_else_differs_is_a_signature_error(cuda, source, words):
    result = build(cuda, source)
    assert result.outcome is Outcome.SIGNATURE_ERROR, (result.reason, result.build.log)
    assert words in result.reason


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        (f"static int scale({ARGUMENTS}) {{ return 0; }}\n", "static"),
        (f"int scale({ARGUMENTS}) {{ return 0; }}\n", 'extern "C"'),
        (ENTRY.replace("scale", "scalee"), "it exports 'scalee': rename that to 'scale'"),
    ],
)
def test_a_missing_entry_comes_with_a_hint(cuda, source, hint):
    alone = f"#ifndef DTYPE_T\n#define DTYPE_T float\n#endif\n{source}"
    result = build(cuda, alone, prototype="")
    assert result.outcome is Outcome.SIGNATURE_ERROR
    assert hint in result.hint


def test_qualifiers_and_names_are_free(cuda):
    arguments = (
        "const __nv_bfloat16* __restrict__ in, __nv_bfloat16* const out, const long n, "
        "CUstream_st* queue"
    )
    assert build(cuda, f'extern "C" int scale({arguments}) {{ return 0; }}\n').passed


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('flags = ["-Xcompiler=-fplugin=/tmp/x.so"]', "flag '-Xcompiler=-fplugin=/tmp/x.so' is"),
        ('needs = ["dl"]', "library 'dl' is not allowed"),
    ],
)
def test_a_header_cannot_ask_for_anything(cuda, line, reason):
    result = build(cuda, f"// /// kernelwright\n// {line}\n// ///\n{ENTRY}")
    assert result.outcome is Outcome.PARSE_ERROR
    assert reason in result.reason


@pytest.mark.parametrize("include", ["", "#include <cublas_v2.h>\n"])
def test_a_library_of_the_toolkit_is_linked_or_named_as_missing(cuda, include):
    source = f'// /// kernelwright\n// needs = ["cublas"]\n// ///\n{include}{ENTRY}'
    result = build(cuda, source)
    if result.passed:  # linked as a library that is loaded with it, whether it is used or not
        needed = wants(result.library.read_bytes()).libraries
        assert any(name.startswith("libcublas.so") for name in needed) or not include
        return
    assert result.outcome is Outcome.UNSUPPORTED, (result.reason, result.build.log)
    assert result.reason == "library 'cublas' is not installed here"
    assert result.hint


def test_a_library_that_only_the_source_speaks_of_is_not_missing(cuda):
    result = build(cuda, f"#error cannot find -lcublas\n{ENTRY}")
    assert (result.outcome, result.hint) == (Outcome.BUILD_ERROR, "")


def test_flags_and_a_newer_standard_are_taken(cuda):
    header = (
        '// /// kernelwright\n// flags = ["-std=c++20", "--use_fast_math", "-Xptxas=-O1", '
        '"-lineinfo"]\n// ///\n'
    )
    result = build(cuda, f"{header}static_assert(__cplusplus > 201703L);\n{ENTRY}")
    assert result.passed, (result.reason, result.build.log)
    assert "warning" not in result.build.log
    assert "--use_fast_math" in result.build.flags


# --- hostile text ------------------------------------------------------------------------------

BOMB = """
template <int N, int M> struct A {
  static constexpr long v = A<N - 1, M>::v + A<N - 1, M + N>::v + A<N - 1, M * 2 + 1>::v;
};
template <int M> struct A<0, M> { static constexpr long v = M; };
static const long bomb = A<60, 1>::v;
"""


def test_a_template_bomb_meets_the_deadline(cuda):
    result = build(cuda, BOMB + ENTRY, limits=BuildLimits(seconds=4))
    assert result.outcome is Outcome.BUILD_TIMEOUT
    assert "after 4 s" in result.reason
    assert result.library is None


@pytest.mark.parametrize("text", ['asm(".incbin \\"{path}\\"");', '#include "{path}"'])
def test_files_of_others_cannot_be_compiled_in(cuda, tmp_path, text):
    if not {"mounts", "landlock"} & set(sandbox.probe()["active"]):
        pytest.skip("this machine cannot hide files")
    secret = tmp_path / "secret"
    secret.write_text("0x12345678")
    secret.chmod(0o644)
    for path in (secret, Path(__file__)):
        result = build(cuda, text.format(path=path) + "\n" + ENTRY)
        assert result.outcome is Outcome.BUILD_ERROR, result.reason
        assert "12345678" not in result.build.log


def test_a_log_names_no_private_folder(cuda):
    result = build(cuda, "int x = ;\n" + 'asm(".incbin \\"nothing\\"");\n')
    assert "kernelwright-build" not in result.build.log
    assert "tmpxft" not in result.build.log


def test_a_source_cannot_put_the_blame_on_the_machine(cuda):
    source = '#line 1 "/usr/include/crt/host_config.h"\n#error -- unsupported GNU version!\n'
    assert build(cuda, source + ENTRY).outcome is Outcome.BUILD_ERROR


def test_an_architecture_that_nobody_knows_is_the_machines_fault(tmp_path):
    cuda = Cuda(cache=tmp_path, arch="sm_999")
    assert "sm_999" in cuda.available().reason
    with pytest.raises(PrerequisiteError, match="cannot build for sm_999"):
        build(cuda, ENTRY)


# --- the rest ----------------------------------------------------------------------------------


def test_candidates_of_other_languages_are_refused(cuda):
    with pytest.raises(UsageError):
        cuda.build(make_candidate("", "cpp"), entry="scale")


def test_notes_say_what_is_built_for(cuda):
    notes = cuda.notes()
    assert cuda.available().version in notes
    assert "sm_90a" in notes
    assert "{" not in notes.replace("{...}", "")


def test_machine_code_can_be_read(cuda):
    library = build(cuda, SCALE).library
    try:
        text = cuda.sass(library)
    except PrerequisiteError as problem:
        pytest.skip(problem.message)
    assert "_Z4rowsILi2E" in text
    assert "EXIT" in text


def test_it_builds_what_it_says_it_can(cuda):
    assert nvcc.complaint(cuda.toolchain, cuda.target) == ""
    done = subprocess.run([cuda.toolchain.path, "--version"], capture_output=True, text=True)
    assert cuda.toolchain.version.split()[1] in done.stdout
