"""Building C++: what succeeds, what fails and how it is told, what is kept.

Every failure is provoked with a real compiler; sources are hostile where a model or a stranger
could be.
"""

import ctypes
import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kernelwright import sandbox
from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.errors import JudgeError, PrerequisiteError, UsageError
from kernelwright.languages import toolchain
from kernelwright.languages.base import BuildLimits
from kernelwright.languages.cpp import Cpp, build_trusted
from kernelwright.records.outcome import Outcome

COMPILERS = [name for name in toolchain.NAMES if shutil.which(name)]
pytestmark = pytest.mark.skipif(not COMPILERS, reason="needs g++ or clang++")

PROTOTYPE = 'extern "C" int scale(const float* x, float* y, int64_t N);'
SCALE = """// /// kernelwright
// tune.FACTOR = [2, -3]
// tune.LABEL = ["plain", "a \\"b\\" \\\\c ?? é"]
// ///
#include <cstdint>
extern "C" int scale(const float* x, float* y, int64_t N) {
  #pragma omp parallel for
  for (int64_t i = 0; i < N; ++i) y[i] = FACTOR * x[i];
  return 0;
}
extern "C" const char* label() { return LABEL; }
"""
ENTRY = 'extern "C" int scale() { return 0; }\n'


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(params=COMPILERS)
def cpp(request, home):
    return Cpp(request.param, home)


def build(cpp, source, tunables=None, entry="scale", **options):
    return cpp.build(make_candidate(source, "cpp", tunables), entry=entry, **options)


def called(library, factor):
    """Loads a library that is known to be honest, and calls it."""
    code = ctypes.CDLL(os.fspath(library))
    x, y = (ctypes.c_float * 5)(1, 2, 3, 4, 5), (ctypes.c_float * 5)()
    assert code.scale(x, y, ctypes.c_int64(5)) == 0
    assert list(y) == [factor * value for value in x]
    code.label.restype = ctypes.c_char_p
    return code.label().decode()


def test_what_is_built_works(cpp):
    result = build(cpp, SCALE, prototype=PROTOTYPE)
    assert result.passed, result.reason
    assert result.symbols == ("label", "scale")
    assert called(result.library, 2) == "plain"
    data = result.library.read_bytes()
    assert result.build.binary == hashlib.sha256(data).hexdigest()
    assert result.build.vectorised == 1
    assert cpp.toolchain.version == result.build.compiler


def test_a_source_that_is_too_long_never_meets_the_compiler(cpp):
    short = make_candidate(SCALE, "cpp")
    long = short.model_copy(update={"source": SCALE + "//" + "x" * (1 << 20)})
    result = cpp.build(long, entry="scale")
    assert result.outcome is Outcome.PARSE_ERROR
    assert "more than 1 MiB" in result.reason


def test_values_arrive_unharmed(cpp):
    text = 'a "b" \\c ?? é'
    result = build(cpp, SCALE, {"FACTOR": -3, "LABEL": text})
    assert called(result.library, -3) == text


def test_building_happens_in_the_sandbox(cpp, tmp_path):
    result = build(Cpp(cpp.toolchain.name, tmp_path), SCALE)
    assert set(result.sandbox.active) == set(sandbox.probe()["active"])


@pytest.mark.parametrize("change", [
    lambda text: text.replace("int64_t i", "int64_t row").replace("i < N; ++i", "row < N; ++row")
        .replace("y[i] = FACTOR * x[i]", "y[row] = FACTOR * x[row]"),
    lambda text: text.replace("  #pragma", "  // a note\n  #pragma"),
])  # fmt: skip
def test_equal_code_is_an_equal_binary(cpp, change, tmp_path):
    first = build(cpp, SCALE)
    other = build(Cpp(cpp.toolchain.name, tmp_path), change(SCALE))
    again = build(Cpp(cpp.toolchain.name, tmp_path / "b"), SCALE)
    assert first.build.binary == other.build.binary == again.build.binary
    assert build(cpp, SCALE.replace("FACTOR *", "FACTOR +")).build.binary != first.build.binary


def test_names_of_static_functions_do_not_get_into_a_binary(cpp):
    helper = "__attribute__((noinline)) static int {0}(int x) {{ return x * 7; }}\n"
    source = helper + 'extern "C" int scale(int x) {{ return {0}(x) + 1; }}\n'
    first, second = (build(cpp, source.format(name)) for name in ("helper", "other"))
    assert first.build.binary == second.build.binary
    assert first.library != second.library


def test_no_time_and_no_path_gets_into_a_binary(cpp):
    stamp = 'extern "C" const char* stamp() { return __DATE__ __TIME__ __TIMESTAMP__ __FILE__; }\n'
    result = build(cpp, ENTRY + stamp)
    code = ctypes.CDLL(os.fspath(result.library))
    code.stamp.restype = ctypes.c_char_p
    assert code.stamp() == b"kernel.cpp"
    assert b"kernelwright" not in result.library.read_bytes()


# --- failures ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "outcome", "reason"),
    [
        ("#error no way\n", Outcome.BUILD_ERROR, "line 1: "),
        ("\n\nint f( {\n", Outcome.BUILD_ERROR, "line 3: expected"),
        ('#include "nothing.h"\n', Outcome.BUILD_ERROR, "line 1: "),
        ('#include "kernel.cpp"\n', Outcome.BUILD_ERROR, "include nested"),
        ('extern "C" int g();\nextern "C" int scale() { return g(); }', Outcome.BUILD_ERROR, "`g'"),
        ("", Outcome.SIGNATURE_ERROR, "does not export 'scale'"),
        ("int scale() { return 0; }", Outcome.SIGNATURE_ERROR, "does not export 'scale'"),
        ('extern "C" int scale;', Outcome.BUILD_ERROR, ""),
    ],
)
def test_mistakes_are_named(cpp, source, outcome, reason):
    result = build(cpp, source)
    if source.endswith("scale;"):
        outcome = Outcome.SIGNATURE_ERROR if result.build.binary else outcome
    assert (result.outcome, reason in result.reason) == (outcome, True), result.reason
    assert result.library is None


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("int scale(float*) { return 0; }", 'extern "C"'),
        ("namespace a { int scale(float*) { return 0; } }", 'extern "C"'),
        ('extern "C" int scalee() { return 0; }', "it exports 'scalee': rename that to 'scale'"),
        ('extern "C" int rmsnorm() { return 0; }', "exports rmsnorm: is it a kernel of another"),
        ('static int scale() { return 0; }\nextern "C" int other() { return scale(); }', "static"),
    ],
)
def test_a_missing_entry_comes_with_a_hint(cpp, source, hint):
    result = build(cpp, source)
    assert result.outcome is Outcome.SIGNATURE_ERROR
    assert hint in result.hint


@pytest.mark.parametrize(
    "arguments",
    [
        "const float* x, float* y, int N",
        "const float* x, double* y, int64_t N",
        "float* y, int64_t N",
    ],
)
def test_other_arguments_than_the_contract_are_a_signature_error(cpp, arguments):
    source = f'#include <cstdint>\nextern "C" int scale({arguments}) {{ return 0; }}\n'
    result = build(cpp, source, prototype=PROTOTYPE)
    assert result.outcome is Outcome.SIGNATURE_ERROR
    assert "differ from the contract" in result.reason
    assert build(cpp, source).passed


def test_qualifiers_and_names_are_free(cpp):
    arguments = "const float* __restrict in, float* const out, const long count"
    source = f'extern "C" int scale({arguments}) {{ out[0] = in[count]; return 0; }}\n'
    assert build(cpp, source, prototype=PROTOTYPE).passed


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('flags = ["-fplugin=/tmp/x.so"]', "flag '-fplugin=/tmp/x.so' is not allowed"),
        ('flags = ["-Wl,-rpath,/"]', "flag '-Wl,-rpath,/' is not allowed"),
        ('needs = ["dl"]', "library 'dl' is not allowed"),
    ],
)
def test_a_header_cannot_ask_for_anything(cpp, line, reason):
    result = build(cpp, f"// /// kernelwright\n// {line}\n// ///\n{ENTRY}")
    assert (result.outcome, result.reason) == (Outcome.PARSE_ERROR, reason)
    assert result.hint


def test_a_missing_library_is_named(cpp):
    if (
        subprocess.run(
            ["ld", "-shared", "-ldnnl", "-o", os.devnull], capture_output=True
        ).returncode
        == 0
    ):
        pytest.skip("this machine has the library")
    result = build(cpp, f'// /// kernelwright\n// needs = ["dnnl"]\n// ///\n{ENTRY}')
    assert result.outcome is Outcome.UNSUPPORTED
    assert result.reason == "library 'dnnl' is not installed here"
    assert "libdnnl-dev" in result.hint


LIES = {
    "by an error": "#error cannot find -lopenblas\n",
    "by a linker's words": "/usr/bin/ld: cannot find -lopenblas\n",
    "by a name": 'void f() asm("cannot find -lopenblas"); void g() { f(); }\n',
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_library_that_only_the_source_speaks_of_is_not_missing(cpp, lie):
    result = build(cpp, lie + ENTRY)
    assert (result.outcome, result.hint) == (Outcome.BUILD_ERROR, "")


def test_a_newer_standard_can_be_asked_for(cpp):
    text = f"#include <span>\n{ENTRY}\nstatic_assert(__cplusplus > 201703L);\n"
    header = '// /// kernelwright\n// flags = ["-std=c++20"]\n// ///\n'
    assert build(cpp, header + text).passed
    assert build(cpp, text).outcome is Outcome.BUILD_ERROR


# --- hostile text ------------------------------------------------------------------------------

BOMB = """
template <int N, int M> struct A {
  static constexpr long v = A<N - 1, M>::v + A<N - 1, M + N>::v + A<N - 1, M * 2 + 1>::v;
};
template <int M> struct A<0, M> { static constexpr long v = M; };
extern "C" long scale() { return A<60, 1>::v; }
"""


def test_a_template_bomb_meets_the_deadline(cpp):
    result = build(cpp, BOMB, limits=BuildLimits(seconds=2))
    assert result.outcome is Outcome.BUILD_TIMEOUT
    assert "after 2 s" in result.reason
    assert result.library is None


def test_a_template_bomb_meets_the_memory_limit(cpp):
    result = build(cpp, BOMB, limits=BuildLimits(seconds=60, memory_bytes=300 << 20))
    assert result.outcome is Outcome.BUILD_ERROR
    assert result.reason in ("the compiler ran out of memory", "the compiler crashed")


def test_a_giant_object_meets_the_output_limit(cpp):
    source = 'char a[1ul << 33] = {1};\nextern "C" char scale(long i) { return a[i]; }\n'
    result = build(cpp, source, limits=BuildLimits(seconds=60, output_bytes=1 << 20))
    assert result.outcome in (Outcome.BUILD_ERROR, Outcome.BUILD_TIMEOUT)
    assert result.library is None


@pytest.mark.parametrize(
    "text",
    [
        'asm(".incbin \\"{path}\\"");',
        '#include "{path}"',
        "#include <{path}>",
        'extern "C" const char data[] = {{\n#include "{path}"\n}};',
        '#if __has_include("{path}")\n#error it is there\n#endif',
    ],
)
def test_files_of_others_cannot_be_compiled_in(cpp, tmp_path, text):
    if not {"mounts", "landlock"} & set(sandbox.probe()["active"]):
        pytest.skip("this machine cannot hide files")
    secret = tmp_path / "secret"
    secret.write_text("0x12345678")
    secret.chmod(0o644)
    for path in (secret, Path("/etc/passwd"), Path(__file__)):
        result = build(cpp, text.format(path=path) + "\n" + ENTRY)
        hidden = result.passed if "has_include" in text else result.outcome is Outcome.BUILD_ERROR
        assert hidden, result.reason
        assert "12345678" not in result.build.log


def test_a_huge_log_is_capped_and_its_ends_are_kept(cpp):
    lines = "\n".join(f'#warning "{number:06d}{"x" * 300}"' for number in range(3000))
    result = build(cpp, f"{lines}\n#error the end\n")
    assert result.outcome is Outcome.BUILD_ERROR
    assert 10_000 < len(result.build.log) <= 64 << 10
    assert "bytes left out" in result.build.log
    assert "000000x" in result.build.log
    assert "the end" in result.build.log


def test_a_log_names_no_private_folder(cpp):
    result = build(cpp, "int x = ;\n" + 'asm(".incbin \\"nothing\\"");\n')
    assert "kernelwright-build" not in result.build.log
    assert tempfile.gettempdir() not in result.build.log


def test_fast_math_does_not_flush_denormals_of_the_process(cpp, home):
    source = (
        f'// /// kernelwright\n// flags = ["-ffast-math"]\n// ///\n{SCALE.split("// ///", 2)[2]}'
    )
    source = source.replace("FACTOR", "2").replace("LABEL", '"l"')
    result = build(cpp, source)
    assert "-ffast-math" in result.build.flags
    check = f"""
import ctypes
code = ctypes.CDLL({os.fspath(result.library)!r})
assert 5e-324 * 1.0 != 0.0 and ctypes.c_float(1e-40).value != 0.0
print(float.fromhex("0x1p-1074") * 3 > 0)
"""
    done = subprocess.run([sys.executable, "-I", "-c", check], capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr


# --- the cache ---------------------------------------------------------------------------------


def test_a_second_build_comes_from_the_cache(cpp, tmp_path):
    cpp = Cpp(cpp.toolchain.name, tmp_path)
    first, second = build(cpp, SCALE, prototype=PROTOTYPE), build(cpp, SCALE, prototype=PROTOTYPE)
    assert (first.build.cached, second.build.cached) == (False, True)
    assert second.library == first.library
    assert second.build.model_copy(update={"cached": False, "seconds": 0.0}) == (
        first.build.model_copy(update={"seconds": 0.0})
    )
    assert second.symbols == first.symbols
    assert build(cpp, SCALE, entry="gone").outcome is Outcome.SIGNATURE_ERROR
    assert not build(cpp, SCALE, {"FACTOR": -3, "LABEL": "plain"}).build.cached


def test_a_damaged_library_is_built_again(cpp, tmp_path):
    cpp = Cpp(cpp.toolchain.name, tmp_path)
    first = build(cpp, SCALE)
    first.library.chmod(0o644)
    first.library.write_bytes(b"\x7fELF damaged")
    second = build(cpp, SCALE)
    assert not second.build.cached
    assert second.build.binary == first.build.binary
    assert called(second.library, 2) == "plain"


def test_failures_are_not_kept(cpp, tmp_path):
    cpp = Cpp(cpp.toolchain.name, tmp_path)
    for _ in range(2):
        result = build(cpp, "#error no\n")
        assert result.outcome is Outcome.BUILD_ERROR
        assert not result.build.cached


def test_builds_may_run_at_once(tmp_path):
    cpp = Cpp(COMPILERS[0], tmp_path)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: build(cpp, SCALE), range(4)))
    assert all(result.passed for result in results)
    assert len({result.build.binary for result in results}) == 1
    assert len({result.library for result in results}) == 1


# --- the rest ----------------------------------------------------------------------------------


def test_trusted_code_is_built_and_complained_about(tmp_path):
    path = build_trusted('extern "C" int noop() { return 7; }', "noop", COMPILERS[0], tmp_path)
    assert ctypes.CDLL(os.fspath(path)).noop() == 7
    with pytest.raises(JudgeError, match=r"noop does not compile: line 1"):
        build_trusted("#error x", "noop", COMPILERS[0], tmp_path)


def test_what_is_installed_is_told(cpp):
    found = cpp.available()
    assert found.ok
    assert Path(found.facts["compiler"]).name == cpp.toolchain.name
    assert found.facts["openmp"]
    notes = cpp.notes()
    assert found.version in notes
    assert "{" not in notes


def test_a_missing_compiler_is_told_with_a_hint(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = Cpp("g++-99", tmp_path).available()
    assert not found.ok
    assert "g++-99 is not on the PATH" in found.reason
    assert "install" in found.hint
    with pytest.raises(PrerequisiteError):
        build(Cpp("g++-99", tmp_path), ENTRY)


def test_a_compiler_that_cannot_link_is_told(tmp_path, monkeypatch):
    broken = tmp_path / "g++"
    broken.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && echo broken 1 && exit\necho "error: no" >&2; exit 1\n'
    )
    broken.chmod(0o755)
    found = Cpp(str(broken), tmp_path).available()
    assert "cannot build a library: error: no" in found.reason


def test_only_cpp_is_built(cpp):
    other = make_candidate(ENTRY, "cpp").model_copy(update={"language": "cuda"})
    with pytest.raises(UsageError, match="cuda"):
        cpp.build(other, entry="scale")


def test_require_is_honoured(cpp, tmp_path, monkeypatch):
    jail = tmp_path / "jail"
    shutil.copytree(sandbox.JAIL, jail)
    with (jail / "layers.py").open("a") as file:
        file.write("\n\ndef unshare(flags):\n    raise OSError('not here')\n")
    monkeypatch.setattr(sandbox, "JAIL", jail)
    with pytest.raises(PrerequisiteError, match="pids: not here"):
        build(Cpp(cpp.toolchain.name, tmp_path), SCALE, sandbox="require")
    assert build(Cpp(cpp.toolchain.name, tmp_path), SCALE).passed


WORKER = """
import ctypes, json, mmap, os, socket, sys
sys.path.insert(0, "JAIL")
import confine
channel = socket.socket(fileno=int(sys.argv[1]))
report = confine.apply(json.loads(sys.argv[-1]))
message, (memory, image), _, _ = socket.recv_fds(channel, 100, 2)
code = ctypes.CDLL(message.decode().strip(chr(0)) or f"/proc/self/fd/{image}")
view = mmap.mmap(memory, 4096)
start = ctypes.addressof(ctypes.c_char.from_buffer(view))
code.scale(ctypes.c_void_p(start), ctypes.c_void_p(start + 2048), ctypes.c_int64(8))
channel.sendall(b"threads %d" % len(os.listdir("/proc/self/task")))
channel.recv(1)
"""


@pytest.mark.parametrize("where", ["relative", "absolute", "memory"])
def test_a_confined_worker_can_do_its_work(tmp_path, home, where):
    cpp = Cpp(COMPILERS[0], home)
    library = build(cpp, SCALE).library
    script = tmp_path / "worker.py"
    script.write_text(WORKER.replace("JAIL", os.fspath(sandbox.JAIL)))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(library, folder / "kernel.so")
        ours, theirs = socket.socketpair()
        memory = os.memfd_create("x")
        os.write(memory, bytes(4096))
        os.pwrite(memory, bytes((ctypes.c_float * 8)(*range(8))), 0)
        jailed = sandbox.spawn(
            script,
            [str(theirs.fileno())],
            folder=folder,
            fds=(theirs.fileno(),),
            env={"OMP_NUM_THREADS": "4"},
        )
        with jailed, ours, theirs:
            path = {"relative": "./kernel.so", "absolute": f"{folder}/kernel.so", "memory": ""}
            image = os.memfd_create("library")
            os.write(image, library.read_bytes())
            socket.send_fds(ours, [path[where].encode() or b"\0"], [memory, image])
            ours.settimeout(60)
            answer = ours.recv(100).decode()
            assert answer == f"threads {4 if cpp.toolchain.openmp == 'yes' else 1}", jailed.tail()
            found = (ctypes.c_float * 8).from_buffer_copy(os.pread(memory, 32, 2048))
            assert list(found) == [2 * value for value in range(8)]
        for descriptor in (memory, image):
            os.close(descriptor)


def test_what_cannot_be_parsed_is_no_other_signature(cpp):
    found = build(cpp, 'extern "C" int scale(const float* x { return 0; }', prototype=PROTOTYPE)
    assert found.outcome is Outcome.BUILD_ERROR
    assert "expected" in found.reason


def test_an_entry_marked_noexcept_is_told_to_leave_it(cpp):
    source = 'extern "C" int scale(const float*, float*, long) noexcept { return 0; }'
    found = build(cpp, source, prototype=PROTOTYPE)
    assert found.outcome is Outcome.SIGNATURE_ERROR, found.build.log
    assert "noexcept" in found.reason
