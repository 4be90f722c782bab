"""Every expert kernel and baseline of the core suite for the CPU, compiled and compared with the float64 reference.

Generic over ``task.toml``: a new expert file is covered as soon as it lies in its folder. Times are not asserted here.
"""

import ctypes
import itertools
import math
import os
import random
import shutil
import subprocess
import tomllib
import types
from functools import cache
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # read when the first kernel loads; spinning threads starve a busy machine
xp_numpy = pytest.importorskip("array_api_compat.numpy")

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "kernelwright"
CORE = PACKAGE / "suites" / "core"
FLAGS = "-std=c++17 -O3 -march=native -fopenmp -fno-math-errno -fno-trapping-math -fno-tree-pre -shared -fPIC".split()
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
EXACT = {
    "matmul",
    "matvec",
    "group_conv",
    "reduction",
}  # sums of products: small integers must come out exactly
EDGES = (0, 1, 2, 15, 16, 17, 63, 65, 131)
GUARD = 64  # poisoned elements before and after each output
POISON = np.float32(-7.25e30)

pytestmark = pytest.mark.skipif("g++" not in COMPILERS, reason="needs g++")


# --- a small reader of tasks and headers -----------------------------------------------------------------------------
def evaluate(expression, names):
    """Value of an integer, or of an expression over ``names``."""
    if not isinstance(expression, str):
        return expression
    functions = {"min": min, "max": max, "next_pow2": lambda n: 1 << max(0, (n - 1).bit_length())}
    return eval(expression, {"__builtins__": {}, **functions}, dict(names))


@cache
def load_task(op):
    return tomllib.loads((CORE / op / "task.toml").read_text())


@cache
def load_reference(op):
    module = types.ModuleType(f"reference_{op}")
    exec((CORE / op / "reference.py").read_text(), module.__dict__)
    return getattr(module, load_task(op)["entry"])


def read_header(path):
    """Tunables (name to values or formula) and constraints of one candidate."""
    lines = path.read_text().splitlines()
    start = lines.index("// /// kernelwright")
    end = lines.index("// ///", start)
    header = tomllib.loads(
        "\n".join(line.removeprefix("//").removeprefix(" ") for line in lines[start + 1 : end])
    )
    assert header["strategy"]
    return header.get("tune", {}), header.get("where", [])


def valid_points(path, axes):
    """Every point of the candidate's space that its constraints allow for ``axes``, the default first."""
    tune, where = read_header(path)
    names = {**axes, "cores": len(os.sched_getaffinity(0))}
    values = [v if isinstance(v, list) else [evaluate(v, names)] for v in tune.values()]
    points = [
        dict(zip(tune, combination, strict=True)) for combination in itertools.product(*values)
    ]
    return [p for p in points if all(evaluate(rule, {**names, **p}) for rule in where)]


def cpu_workload(op, role):
    return next(w for w in load_task(op)["workloads"] if w["device"] == "cpu" and w["role"] == role)


def sources():
    experts = sorted(PACKAGE.glob("experts/*/cpp/*.cpp"))
    found = [(p.parent.parent.name, p) for p in experts]
    return found + [(p.parent.name, p) for p in sorted(CORE.glob("*/baseline.cpp"))]


def named(pair):
    op, path = pair
    return f"{op}-{path.stem}"


# --- building and calling --------------------------------------------------------------------------------------------
C_TYPES = {"float32": ctypes.c_float, "int32": ctypes.c_int32, "int64": ctypes.c_int64}


class Kernel:
    """One compiled candidate, callable with numpy arrays by the contract."""

    def __init__(self, op, library):
        self.task, self.op = load_task(op), op
        handle = ctypes.CDLL(str(library))
        self.entry = getattr(handle, self.task["entry"])
        self.entry.restype = ctypes.c_int
        self.workspace = getattr(handle, f"{self.task['entry']}_workspace", None)

    def __call__(self, inputs, scalars, axes, *, shift=0):
        """Outputs of one call; their storage is poisoned, guarded and starts ``shift`` elements after an aligned address."""
        names, order = full_axes(self.op, axes), passed_axes(self.op)
        arguments = [ctypes.c_void_p(a.ctypes.data) for a in inputs]
        outputs = []
        for declared in self.task["outputs"]:
            shape = tuple(evaluate(s, names) for s in declared["shape"])
            storage = aligned(math.prod(shape) + 2 * GUARD + shift, np.float32)
            storage[:] = POISON
            view = storage[GUARD + shift : GUARD + shift + math.prod(shape)].reshape(shape)
            outputs.append((storage, view))
            arguments.append(ctypes.c_void_p(view.ctypes.data))
        for declared, value in zip(self.task.get("scalars", []), scalars, strict=True):
            arguments.append(C_TYPES[declared["dtype"]](value))
        sizes = [ctypes.c_int64(axes[name]) for name in order]
        arguments += sizes
        if self.workspace is not None:
            self.workspace.restype = ctypes.c_int64
            scratch = aligned(self.workspace(*sizes) // 4 + 1, np.float32)
            arguments.append(ctypes.c_void_p(scratch.ctypes.data))
        copies = [a.copy() for a in inputs]
        assert self.entry(*arguments) == 0
        for before, after in zip(copies, inputs, strict=True):
            assert before.tobytes() == after.tobytes(), "the kernel wrote into an input"
        for storage, view in outputs:
            outside = np.concatenate(
                [storage[: GUARD + shift], storage[GUARD + shift + view.size :]]
            )
            assert np.all(outside == POISON), "the kernel wrote outside its output"
        return [view.copy() for _, view in outputs]


def aligned(count, dtype):
    """Uninitialised array of ``count`` elements at a 64-byte boundary."""
    size = np.dtype(dtype).itemsize
    raw = np.empty(count * size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count * size].view(dtype)


@pytest.fixture(scope="session")
def build(tmp_path_factory):
    """Function that compiles a candidate at one point and returns the kernel; builds are kept for the session."""
    folder = tmp_path_factory.mktemp("experts")

    @cache
    def compiled(op, path, point):
        library = folder / f"{op}-{path.stem}-{abs(hash(point))}.so"
        macros = [f"-D{name}={value}" for name, value in point]
        command = ["g++", *FLAGS, *WARNINGS, *macros, str(path), "-o", str(library)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return Kernel(op, library)

    return lambda op, path, point: compiled(op, path, tuple(point.items()))


# --- inputs and the rule of acceptance -------------------------------------------------------------------------------
def passed_axes(op):
    return [name for name, kind in load_task(op)["axes"].items() if kind in ("free", "fixed")]


def full_axes(op, axes):
    """``axes`` with the derived ones."""
    names = dict(axes)
    for name, kind in load_task(op)["axes"].items():
        if kind not in ("free", "fixed"):
            names[name] = evaluate(kind, names)
    return names


def draw(op, axes, seed, *, integers=False, shift=0):
    """Inputs of one call at ``axes``, ``shift`` elements after an aligned address."""
    rng, names = np.random.default_rng(seed), full_axes(op, axes)
    inputs = []
    for declared in load_task(op)["inputs"]:
        shape = tuple(evaluate(s, names) for s in declared["shape"])
        values = declared.get("values", {"kind": "normal"})
        dtype = np.int64 if declared["dtype"] == "int64" else np.float32
        if values["kind"] == "integers":
            content = rng.integers(
                evaluate(values["low"], names), evaluate(values["high"], names), shape
            )
        elif integers:
            content = rng.integers(-3, 4, shape)
        elif values["kind"] == "uniform":
            content = rng.uniform(values["low"], values["high"], shape)
        else:
            content = rng.normal(values.get("mean", 0.0), values.get("std", 1.0), shape)
        storage = aligned(math.prod(shape) + shift, dtype)[shift:]
        storage[:] = content.ravel()
        inputs.append(storage.reshape(shape))
    return inputs


def convolve(x, w, *, stride, padding, groups):
    """Plain NCHW convolution in the type of ``x``."""
    n, c, h, width = x.shape
    k, depth, r, s = w.shape
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    rows, columns = (h + 2 * padding - r) // stride + 1, (width + 2 * padding - s) // stride + 1
    y = np.zeros((n, k, rows, columns), x.dtype)
    for i, j in itertools.product(range(r), range(s)):
        window = padded[:, :, i : i + stride * rows : stride, j : j + stride * columns : stride]
        window = window.reshape(n, groups, depth, rows, columns)
        taps = w[:, :, i, j].reshape(groups, k // groups, depth)
        y += np.einsum("ngdhw,gkd->ngkhw", window, taps).reshape(y.shape)
    return y


class Namespace:
    """The array API namespace of numpy with the two extras that references may use."""

    conv = staticmethod(convolve)

    def __getattr__(self, name):
        return getattr(xp_numpy, name)


def truth(op, inputs, scalars, dtype):
    cast = [a.astype(dtype) if a.dtype == np.float32 else a for a in inputs]
    with np.errstate(all="ignore"):
        result = load_reference(op)(Namespace(), *cast, *scalars)
    return list(result) if isinstance(result, tuple) else [result]


def scalar_values(op, overrides):
    declared = load_task(op).get("scalars", [])
    values = [overrides.get(s["name"], s["value"]) for s in declared]
    return [
        float(np.float32(v)) if s["dtype"] == "float32" else int(v)
        for s, v in zip(declared, values, strict=True)
    ]


def errors(got, wanted):
    """Largest and root-mean-square difference where both are finite."""
    both = np.isfinite(got) & np.isfinite(wanted)
    difference = got[both].astype(np.float64) - wanted[both]
    return (
        (np.abs(difference).max(), np.sqrt(np.mean(difference**2)))
        if difference.size
        else (0.0, 0.0)
    )


def check(op, got, inputs, scalars, serial, where):
    """Accept when error <= max(k * e0, 2 ulp of the scale), by the largest element and by RMS; NaN and Inf by position."""
    k = load_task(op)["tolerance"]["k"]
    exact = truth(op, inputs, scalars, np.float64)
    native = truth(op, inputs, scalars, np.float32)
    for candidate, reference, numpy_own, plain in zip(got, exact, native, serial, strict=True):
        assert candidate.shape == reference.shape, where
        with np.errstate(over="ignore"):
            rounded = reference.astype(np.float32)
        assert np.array_equal(np.isnan(candidate), np.isnan(rounded)), (
            f"NaN at other positions: {where}"
        )
        infinite = np.isinf(rounded)
        assert np.array_equal(np.isinf(candidate), infinite), f"Inf at other positions: {where}"
        assert np.array_equal(candidate[infinite], rounded[infinite]), (
            f"Inf of another sign: {where}"
        )
        finite = reference[np.isfinite(rounded)]
        if not finite.size:
            continue
        scales = (np.abs(finite).max(), np.sqrt(np.mean(finite**2)))
        honest = [
            max(pair)
            for pair in zip(errors(numpy_own, reference), errors(plain, reference), strict=True)
        ]
        for kind, error, allowed, scale in zip(
            ("largest", "rms"), errors(candidate, reference), honest, scales, strict=True
        ):
            bound = max(k * allowed, 2 * float(np.spacing(np.float32(scale))))
            assert error <= bound, f"{kind} error {error:.3g} > {bound:.3g}: {where}"


def edge_shapes(op):
    """The smoke shape, and each free axis in turn at each edge size where the task is defined."""
    smoke = cpu_workload(op, "smoke")["axes"]
    free = [name for name, kind in load_task(op)["axes"].items() if kind == "free"]
    shapes = [smoke] + [{**smoke, name: size} for name in free for size in EDGES]
    return [
        s for s in shapes if not (op == "cross_entropy" and s["V"] == 0)
    ]  # no label exists in an empty vocabulary


def special_inputs(op, axes):
    """Named variations of a draw's first input: infinities, NaN, all -inf, large offsets and scales."""

    def place(*values):
        def change(first):
            rows = first.reshape(-1, first.shape[-1])
            for row, value in enumerate(values):
                rows[(row * 3 + 1) % len(rows), -1 - row % rows.shape[1]] = value

        return change

    def fill_row(first):
        first.reshape(-1, first.shape[-1])[-1] = -np.inf

    yield "nan", place(np.nan)
    yield "+inf", place(np.inf)
    yield "-inf", place(-np.inf)
    yield "nan, inf in several rows", place(np.inf, np.nan, -np.inf)
    yield "a row of -inf", fill_row
    yield "offset", lambda first: first.__iadd__(np.float32(1e4))
    yield "negative offset", lambda first: first.__isub__(np.float32(1e4))
    yield "large", lambda first: first.__imul__(np.float32(300.0))
    yield "small", lambda first: first.__imul__(np.float32(1e-6))
    yield "zero", lambda first: first.fill(0.0)


def points_of(op, path):
    """Default tunables and two seeded random valid points, for the first CPU workload to which the candidate applies."""
    if path.stem == "baseline":
        return [{}]
    workloads = [cpu_workload(op, role)["axes"] for role in ("main", "extra", "smoke")]
    points = next(filter(None, (valid_points(path, axes) for axes in workloads)), None)
    assert points, "no valid point for any CPU workload"
    others = random.Random(path.name).sample(points[1:], min(2, len(points) - 1))
    return [points[0], *others]


# --- the tests -------------------------------------------------------------------------------------------------------
def baseline_of(build, op):
    """The plain kernel, whose sums are serial in float32: the honest serial evaluation of the rule."""
    return build(op, CORE / op / "baseline.cpp", {})


@pytest.mark.parametrize("source", sources(), ids=named)
def test_edge_shapes(build, source):
    op, path = source
    plain = baseline_of(build, op)
    for point in points_of(op, path):
        kernel = build(op, path, point)
        for seed, axes in enumerate(edge_shapes(op)):
            for shift in (0, 1):
                for overrides in scalar_choices(op):
                    inputs, scalars = (
                        draw(op, axes, seed, shift=shift),
                        scalar_values(op, overrides),
                    )
                    serial = plain(inputs, scalars, axes)
                    got = kernel(inputs, scalars, axes, shift=shift)
                    check(
                        op,
                        got,
                        inputs,
                        scalars,
                        serial,
                        f"{point} {axes} {overrides} shift {shift}",
                    )


def scalar_choices(op):
    return [{"causal": 0}, {"causal": 1}] if op == "attention" else [{}]


@pytest.mark.parametrize("source", sources(), ids=named)
def test_special_values(build, source):
    op, path = source
    plain, axes = baseline_of(build, op), cpu_workload(op, "smoke")["axes"]
    for point in points_of(op, path):
        kernel = build(op, path, point)
        for label, change in special_inputs(op, axes):
            inputs, scalars = draw(op, axes, 5), scalar_values(op, {})
            change(inputs[0])
            serial = plain(inputs, scalars, axes)
            check(op, kernel(inputs, scalars, axes), inputs, scalars, serial, f"{point} {label}")


@pytest.mark.parametrize("source", sources(), ids=named)
def test_cpu_workloads(build, source):
    op, path = source
    plain, points = baseline_of(build, op), points_of(op, path)
    for role, point in [("main", p) for p in points] + [("extra", points[0])]:
        workload = cpu_workload(op, role)
        scalars = scalar_values(op, workload.get("scalars", {}))
        inputs = draw(op, workload["axes"], 11)
        serial = plain(inputs, scalars, workload["axes"])
        got = build(op, path, point)(inputs, scalars, workload["axes"])
        check(op, got, inputs, scalars, serial, f"{point} {workload['name']}")


@pytest.mark.parametrize("source", [s for s in sources() if s[0] in EXACT], ids=named)
def test_small_integers_are_exact(build, source):
    op, path = source
    for point in points_of(op, path):
        for axes in (cpu_workload(op, "smoke")["axes"], cpu_workload(op, "main")["axes"]):
            inputs, scalars = draw(op, axes, 3, integers=True), scalar_values(op, {})
            got = build(op, path, point)(inputs, scalars, axes)
            for candidate, reference in zip(
                got, truth(op, inputs, scalars, np.float64), strict=True
            ):
                assert np.array_equal(candidate, reference), f"{point} {axes}"


@pytest.mark.parametrize("source", sources(), ids=named)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_compiles_without_warnings(compiler, source):
    op, path = source
    macros = [f"-D{name}={value}" for name, value in points_of(op, path)[-1].items()]
    own = (
        ["-Wno-pass-failed"] if compiler == "clang++" else []
    )  # a loop left unvectorised is no defect
    if compiler == "clang++" and "omp.h" in path.read_text() and not clang_has_openmp():
        pytest.skip("clang++ has no omp.h")
    known = [
        f for f in FLAGS if f != "-shared" and not (compiler == "clang++" and f == "-fno-tree-pre")
    ]
    command = [compiler, *known, *WARNINGS, *own, *macros, "-c", str(path), "-o", os.devnull]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@cache
def clang_has_openmp():
    command = ["clang++", "-fopenmp", "-include", "omp.h", "-x", "c++", "-fsyntax-only", os.devnull]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("op", sorted({op for op, _ in sources()}))
def test_headers_offer_several_structures(op):
    files = [path for found, path in sources() if found == op and path.stem != "baseline"]
    if not files:
        pytest.skip("no expert yet")
    main = cpu_workload(op, "main")["axes"]
    assert len(files) >= 2
    assert len({path.stem for path in files}) == len(files)
    assert sum(len(valid_points(path, main)) for path in files) >= 12
