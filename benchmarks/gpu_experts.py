# ruff: noqa: PLW0108 -- the lambdas wait for torch, which is imported once builds are ordered
"""How right and how fast the expert kernels are on one GPU, beside a copy and the framework.

    python benchmarks/gpu_experts.py --out results.json [--ops softmax,rmsnorm] [--only warp]

Needs torch, Triton, numpy and nvcc, and nothing else of this project installed: it reads headers
and tasks by itself, so that it runs on a machine that only has a framework. It is no judge: it
guards against no cheat. Every kernel is checked in float64 at odd shapes, on hostile values and at
the workloads, its outputs poisoned and fenced; the bound is the judge's own rule. Times are
medians of single calls between events, over buffers that rotate through more than the cache holds,
interleaved with those of rivals, behind a head start that lets the host queue.

Raw data is one file: a section for each operation, kept when it is complete and its sources have
not changed. ``--budget`` ends the run between two measurements.
"""

import argparse
import ctypes
import hashlib
import importlib.util
import itertools
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "kernelwright"
CTYPES = {"bfloat16": "__nv_bfloat16", "float16": "__half", "float32": "float"}
FLAGS = ["-O3", "-std=c++17", "-arch=sm_90a", "-shared", "-Xcompiler", "-fPIC"]
EPSILON = {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-23}
FENCE = 128
"""Elements on each side of an output that must stay as they were."""
COLD_BYTES = 400 << 20
"""What the rotating buffers hold together, at least."""
ROWS = (
    (0, 3, 2, 2), (5, 0, 2, 2), (1, 1, 1, 1), (257, 1, 2, 1), (1, 127, 17, 3), (16, 17, 3, 1),
    (31, 16, 5, 1), (129, 15, 2, 3), (1025, 2, 1, 1), (63, 65, 1, 1), (1024, 9, 3, 2),
)  # fmt: skip
"""Odd sizes of the free axes, the last axis first."""
LONG = {
    **dict.fromkeys(
        ("softmax", "rmsnorm", "layernorm", "reduction"),
        ((33, 5000), (3, 4097), (5, 16392), (2, 40001), (3, 70000), (1, 1048577), (300001, 3)),
    ),
    "cross_entropy": [(33, 5000), (3, 4097), (2, 40001), (3, 200000), (1, 1048577), (70001, 3)],
    "matvec": [(300, 5000), (3, 40001), (70001, 24), (1, 1048577), (129, 16384)],
    "rotary": [(2, 3, 1000), (1, 70001, 1), (3, 1, 4099)],
    **{
        op: [
            (67, 136, 104),
            (1, 8, 8),
            (300, 520, 1000),
            (129, 264, 72),
            (1000, 24, 4104),
            (513, 1032, 0),
        ]
        for op in ("matmul", "linear_relu_div", "swiglu")
    },
    "attention": [(2, 3, 300), (1, 2, 1025), (3, 1, 128), (1, 1, 129), (1, 3, 1152)],
    "group_conv": [(2, 40, 72), (1, 57, 120), (3, 9, 58), (2, 56, 56)],
}
"""Longer sizes of the free axes, in the task's order."""
OTHERS = {
    "attention": [
        ({"D": 64}, {"causal": 0}), ({"D": 128}, {"causal": 1}), ({"D": 40}, {"causal": 0}),
    ],
    "group_conv": [({"C": 64}, {}), ({"C": 128}, {}), ({"C": 256}, {}), ({"C": 36, "G": 3}, {})],
}  # fmt: skip
"""Fixed axes and scalars beside those of the smoke workload."""
SUMS = ("matmul", "linear_relu_div", "swiglu", "matvec", "reduction")
"""Operations whose serial evaluation is an honest one too."""
HOSTILE = ("large", "constant", "offset", "minus_row", "plus", "minus", "nan", "outlier")


class Xp:
    """The few names of the array API that references use, by torch."""

    max = staticmethod(lambda x, axis, keepdims: TORCH.amax(x, dim=axis, keepdim=keepdims))
    mean = staticmethod(lambda x, axis, keepdims: TORCH.mean(x, dim=axis, keepdim=keepdims))
    sum = staticmethod(lambda x, axis, keepdims=False: TORCH.sum(x, dim=axis, keepdim=keepdims))
    exp = staticmethod(lambda x: TORCH.exp(x))
    log = staticmethod(lambda x: TORCH.log(x))
    sqrt = staticmethod(lambda x: TORCH.sqrt(x))
    matmul = staticmethod(lambda a, b: TORCH.matmul(a, b))
    matrix_transpose = staticmethod(lambda x: x.mT)
    maximum = staticmethod(lambda a, b: TORCH.maximum(a, b))
    where = staticmethod(lambda c, a, b: TORCH.where(c, a, b))
    tril = staticmethod(lambda x: TORCH.tril(x))
    zeros_like = staticmethod(lambda x: TORCH.zeros_like(x))
    ones_like = staticmethod(lambda x: TORCH.ones_like(x))
    full_like = staticmethod(lambda x, value: TORCH.full_like(x, value))
    concat = staticmethod(lambda parts, axis: TORCH.cat(parts, dim=axis))
    take_along_axis = staticmethod(lambda x, i, axis: TORCH.take_along_dim(x, i, dim=axis))
    conv = staticmethod(
        lambda x, w, stride, padding, groups: (
            TORCH.nn.functional.conv2d(x, w, stride=stride, padding=padding, groups=groups)
            if x.numel()
            else x
        )
    )


class Serial(Xp):
    """The same with sums and products that add one term after the other, as a plain loop does."""

    @staticmethod
    def sum(x, axis, keepdims=False):
        if not x.shape[axis]:
            return x.sum(axis, keepdim=keepdims)
        running = x.cpu().numpy().cumsum(axis, dtype="float32")  # in order, unlike torch's
        last = TORCH.from_numpy(running).to(x.device).narrow(axis, x.shape[axis] - 1, 1)
        return last if keepdims else last.squeeze(axis)

    @staticmethod
    def matmul(a, b):
        if b.ndim == 1:
            return Serial.sum(a * b, -1)
        total = TORCH.zeros_like(a[..., :1] * b[..., :1, :])
        for k in range(a.shape[-1]):
            total.addcmul_(a[..., k : k + 1], b[..., k : k + 1, :])
        return total


def module(path):
    """A Python file as a module, whatever package it lies in."""
    spec = importlib.util.spec_from_file_location(f"file_{abs(hash(str(path)))}", path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


EXPRESSIONS = module(PACKAGE / "expressions.py")


# ------------------------------------------------------------------ tasks and kernels as files


class Task:
    """What a task's folder says."""

    def __init__(self, op):
        folder = PACKAGE / "suites" / "core" / op
        self.op, self.table = op, tomllib.loads((folder / "task.toml").read_text())
        self.entry, self.axes = self.table["entry"], self.table["axes"]
        self.reference = module(folder / "reference.py")
        self.free = [name for name, kind in self.axes.items() if kind == "free"]
        here = [one for one in self.table["workloads"] if one["device"] == "gpu"]
        self.smoke = next(one for one in here if one["role"] == "smoke")
        self.timed = [one for one in here if one["role"] != "smoke"]

    def case(self, axes, types, scalars=None):
        """One size with every shape concrete; the inputs are drawn later."""
        types = self.table["types"] | types
        tensors = {}
        for role in ("inputs", "outputs"):
            tensors[role] = [
                SimpleNamespace(
                    name=one["name"],
                    dtype=types.get(one["dtype"], one["dtype"]),
                    shape=[EXPRESSIONS.evaluate_int(extent, axes) for extent in one["shape"]],
                    values=one.get("values", {"kind": "normal"}),
                )
                for one in self.table[role]
            ]
        given = [
            (one["dtype"], (scalars or {}).get(one["name"], one["value"]))
            for one in self.table.get("scalars", [])
        ]
        main = any(one["axes"] == axes and one["role"] == "main" for one in self.timed)
        return SimpleNamespace(
            task=self, axes=axes, scalars=given, types=types, main=main, **tensors
        )

    def odd_cases(self, dtype):
        """Sizes that divide nothing, then long ones; fixed axes as in the smoke workload."""
        smoke, scalars = self.smoke["axes"], self.smoke.get("scalars", {})
        sizes = [dict(zip(reversed(self.free), row, strict=False)) for row in ROWS]
        sizes += [dict(zip(self.free, row, strict=True)) for row in LONG.get(self.op, [])]
        for others, numbers in [({}, {}), *OTHERS.get(self.op, [])]:
            for size in sizes:
                axes = {name: (smoke | others | size)[name] for name in self.axes}
                if self.op == "cross_entropy" and not axes["V"]:
                    continue
                yield self.case(axes, {"T": dtype}, scalars | numbers)


class Source:
    """One expert's file and its header."""

    def __init__(self, path):
        self.path, self.text = path, path.read_text()
        self.op, self.language, self.stem = path.parts[-3], path.parts[-2], path.stem
        self.name = f"{self.language}/{self.stem}"
        sign = "//" if self.language == "cuda" else "#"
        block = re.search(
            rf"^{sign} /// kernelwright\n(.*?)^{sign} ///$", self.text, re.MULTILINE | re.DOTALL
        )
        lines = block[1].splitlines() if block else []
        self.header = tomllib.loads("\n".join(line[len(sign) + 1 :] for line in lines))

    def points(self, axes, facts):
        """Every valid point of the tunables at this size, the default first."""
        values = axes | facts
        choices = {
            name: [EXPRESSIONS.evaluate(given, values)] if isinstance(given, str) else given
            for name, given in self.header.get("tune", {}).items()
        }
        for chosen in itertools.product(*choices.values()):
            point = dict(zip(choices, chosen, strict=True))
            numbers = {n: v for n, v in point.items() if not isinstance(v, str)}
            if all(EXPRESSIONS.evaluate(w, values | numbers) for w in self.header.get("where", ())):
                yield point


class Builder:
    """Builds CUDA files side by side; a library is known by source, values and type."""

    def __init__(self, folder, workers):
        self.folder, self.jobs = folder, {}
        self.pool = ThreadPoolExecutor(workers)

    def order(self, source, point, dtype):
        key = (source.path, json.dumps(point), dtype)
        if source.language == "cuda" and key not in self.jobs:
            self.jobs[key] = self.pool.submit(self._build, source, point, dtype, len(self.jobs))
        return self.jobs.get(key)

    def _build(self, source, point, dtype, number):
        target = self.folder / f"{source.op}-{source.stem}-{number}.so"
        macros = [f"-D{name}={value}" for name, value in point.items()]
        header = source.header
        command = ["nvcc", *FLAGS, *header.get("flags", []), f"-DDTYPE_T={CTYPES[dtype]}", *macros]
        command += ["-Xptxas", "-v", "-o", str(target), str(source.path)]
        command += [f"-l{name}" for name in header.get("needs", [])]
        begun = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-1500:])
        spills = sum(int(n) for n in re.findall(r"(\d+) bytes spill stores", done.stderr))
        return SimpleNamespace(path=target, seconds=time.monotonic() - begun, spills=spills)


class Kernel:
    """A source at one point and type, callable on one set of tensors."""

    def __init__(self, builder, source, point, dtype):
        self.source, self.point, self.task = source, point, TASKS[source.op]
        if source.language == "cuda":
            self.built = builder.order(source, point, dtype).result()
            self.library = ctypes.CDLL(str(self.built.path), mode=os.RTLD_LOCAL | os.RTLD_NOW)
            self.function = self.library[self.task.entry]
            self.function.restype = ctypes.c_int
        else:
            self.function = getattr(module(source.path), self.task.entry)

    def workspace(self, axes):
        try:
            ask = self.library[f"{self.task.entry}_workspace"]
        except AttributeError:
            return None
        ask.restype = ctypes.c_int64
        size = ask(*(ctypes.c_int64(n) for n in axes.values()))
        return TORCH.full((max(size, 1),), 255, dtype=TORCH.uint8, device="cuda")

    def bind(self, case, inputs, outputs):
        """A call of these tensors that takes no arguments, and what it keeps alive."""
        if self.source.language == "triton":
            given = [value for _, value in case.scalars]
            arguments = [*inputs, *outputs, *given, *case.axes.values()]
            return lambda: self.function(*arguments, **self.point)
        arguments = [ctypes.c_void_p(one.data_ptr()) for one in (*inputs, *outputs)]
        for dtype, value in case.scalars:
            kind = {"int32": ctypes.c_int32, "int64": ctypes.c_int64}.get(dtype, ctypes.c_float)
            arguments.append(kind(value))
        arguments += [ctypes.c_int64(size) for size in case.axes.values()]
        scratch = self.workspace(case.axes)
        if scratch is not None:
            arguments.append(ctypes.c_void_p(scratch.data_ptr()))
        arguments.append(ctypes.c_void_p(TORCH.cuda.current_stream().cuda_stream))

        def call(function=self.function, keep=(inputs, outputs, scratch)):
            if code := function(*arguments):
                raise RuntimeError(f"the kernel returned {code}")

        return call


# ------------------------------------------------------------------ right or wrong


def draw(case, seed, hostile=None):
    """The inputs of a case; of the first one, contents on which careless kernels fail."""
    generator = TORCH.Generator(device="cuda").manual_seed(seed)
    found = []
    for item in case.inputs:
        kind, values = item.values["kind"], item.values
        low, high = (
            EXPRESSIONS.evaluate(bound, case.axes) if isinstance(bound, str) else bound
            for bound in (values.get("low", 0.0), values.get("high", 1.0))
        )
        make = {"device": "cuda", "generator": generator}
        if kind == "integers":
            one = TORCH.randint(int(low), max(int(high), 1), item.shape, **make)
        elif kind == "uniform":
            one = TORCH.rand(item.shape, **make) * (high - low) + low
        else:
            one = TORCH.randn(item.shape, **make) * values.get("std", 1.0) + values.get("mean", 0.0)
        found.append(one.to(getattr(TORCH, item.dtype)))
    if hostile:
        spoil(found[0], hostile)
    return found


def spoil(first, kind):
    rows = first.view(-1, first.shape[-1])
    half = first.dtype == TORCH.float16
    if kind == "large":
        first *= 8 if half else 64
    elif kind == "constant":
        first.fill_(1.37)
    elif kind == "offset":
        first += {TORCH.float16: 32, TORCH.bfloat16: 16}.get(first.dtype, 1000)
    elif kind == "minus_row":
        rows[-1] = -math.inf
        rows[0, : rows.shape[1] // 2] = -math.inf
    elif kind == "outlier":
        rows[::2, 0] = 96 if half else 250
        rows[1::4] += 32 if half else 256
    else:
        value = {"plus": math.inf, "minus": -math.inf, "nan": math.nan}[kind]
        rows[rows.shape[0] // 2, rows.shape[1] * 2 // 3] = value


def evaluated(case, inputs, dtype, xp=Xp):
    """The reference on the GPU in another type; attention a few heads at a time, for its memory."""
    given = [one.to(dtype) if one.is_floating_point() else one for one in inputs]
    function = getattr(case.task.reference, case.task.entry)
    numbers = [value for _, value in case.scalars]
    if case.task.op == "attention" and given[0].numel():
        some = max(1, (1 << 28) // given[0].shape[2] ** 2)
        heads = zip(*(one.flatten(0, 1).unsqueeze(1).split(some) for one in given), strict=True)
        return TORCH.cat([function(xp, *few, *numbers) for few in heads]).view(given[0].shape)
    return function(xp, *given, *numbers)


def ulp(scale, dtype):
    if scale <= 0 or not math.isfinite(scale):
        return 1e-40
    return EPSILON[dtype] * 2.0 ** math.floor(math.log2(scale))


class Truth:
    """The answer in float64 and what honest evaluations in float32 miss it by."""

    def __init__(self, case, inputs):
        self.dtype = case.outputs[0].dtype
        self.narrow = getattr(TORCH, self.dtype)
        self.values = evaluated(case, inputs, TORCH.float64)
        honest = evaluated(case, inputs, TORCH.float32).to(self.narrow)
        largest, rms, _ = self.errors(honest)
        if self.dtype == "float32" and case.task.op in SUMS:
            serial = self.errors(evaluated(case, inputs, TORCH.float32, Serial))
            largest, rms = max(largest, serial[0]), max(rms, serial[1])
        finite = TORCH.nan_to_num(self.values, 0.0, 0.0, 0.0)
        scale = float(finite.abs().max()) if finite.numel() else 0.0
        scale_rms = float(finite.square().mean().sqrt()) if finite.numel() else 0.0
        self.largest = max(4 * largest, 2 * ulp(scale, self.dtype))
        self.rms = max(4 * rms, 2 * ulp(scale_rms, self.dtype))

    def errors(self, got):
        """Largest and root mean square error, and elements whose kind is wrong."""
        if not got.numel():
            return 0.0, 0.0, 0
        wide, right = got.double(), self.values
        expected = right.to(self.narrow).double()  # beyond the range: infinite
        odd = ~(TORCH.isfinite(wide) & TORCH.isfinite(expected))
        same = (wide == expected) | (wide.isnan() & expected.isnan())
        error = TORCH.where(odd, 0.0, (wide - right).abs())
        return float(error.max()), float(error.square().mean().sqrt()), int((odd & ~same).sum())

    def share(self, got):
        """The error as a share of what is allowed; infinite where an element's kind is wrong."""
        largest, rms, misplaced = self.errors(got.view(self.values.shape))
        return math.inf if misplaced else max(largest / self.largest, rms / self.rms)


def fenced(case):
    """Outputs full of NaN between fences of 7, and the function that looks at the fences."""
    whole, inner = [], []
    for item in case.outputs:
        size = math.prod(item.shape)
        block = TORCH.full(
            (size + 2 * FENCE,), 7.0, dtype=getattr(TORCH, item.dtype), device="cuda"
        )
        inner.append(block[FENCE : FENCE + size].view(item.shape).fill_(math.nan))
        whole.append(block)

    def intact():
        return all(
            bool((one[:FENCE] == 7).all()) and bool((one[-FENCE:] == 7).all()) for one in whole
        )

    return inner, intact


def check(kernel, case, inputs, truth):
    """What is wrong, or the share of the allowed error that was used."""
    outputs, intact = fenced(case)
    kept = [one.clone() for one in inputs] if inputs[0].numel() < 1 << 24 else []
    try:
        kernel.bind(case, inputs, outputs)()
        TORCH.cuda.synchronize()
    except Exception as problem:  # noqa: BLE001 - a candidate's failure is a row
        return f"{type(problem).__name__}: {problem}"[:300]
    if not intact():
        return "wrote outside of the output"
    pairs = zip(kept, inputs[: len(kept)], strict=True)
    if not all(TORCH.equal(TORCH.nan_to_num(a), TORCH.nan_to_num(b)) for a, b in pairs):
        return "changed an input"
    share = truth.share(outputs[0])
    return round(share, 4) if math.isfinite(share) else "an element is missing or not finite"


# ------------------------------------------------------------------ fast or slow


def rivals(case, options):
    """Calls of the framework by name: each takes the inputs."""
    reference, numbers = case.task.reference, [value for _, value in case.scalars]
    entry = getattr(reference, case.task.entry)

    def unfused(*given):
        return entry(Xp, *given, *numbers)

    found = {"eager": unfused}
    if hasattr(reference, "fused"):
        found["fused"] = lambda *given: reference.fused(TORCH, *given, *numbers)
    if (peer := liger(case)) is not None:
        found["liger"] = peer
    if options.compile:
        TORCH._dynamo.reset()
        found["compile"] = TORCH.compile(unfused, dynamic=False)
        if options.max_autotune and case.main:
            mode = "max-autotune-no-cudagraphs"
            found["max_autotune"] = TORCH.compile(unfused, dynamic=False, mode=mode)
    return found


def liger(case):
    """The forward pass of Liger's kernel, where its package is installed and has the operation."""
    numbers = [value for _, value in case.scalars]
    try:
        if case.task.op == "softmax":
            from liger_kernel.ops.softmax import _softmax_forward as forward

            return lambda x: forward(x)
        if case.task.op == "rmsnorm":
            from liger_kernel.ops.rms_norm import rms_norm_forward as forward

            return lambda x, weight: forward(x, weight, *numbers, 0.0, "llama", None)
        if case.task.op == "layernorm":
            from liger_kernel.ops.layer_norm import layer_norm_forward as forward

            return lambda x, weight, bias: forward(x, weight, bias, *numbers)
    except ImportError:
        pass
    return None


def buffers(case):
    """Sets of tensors that together do not fit the cache."""
    one = sum(math.prod(t.shape) * getattr(TORCH, t.dtype).itemsize for t in case.inputs)
    out = sum(math.prod(t.shape) * getattr(TORCH, t.dtype).itemsize for t in case.outputs)
    count = max(2, min(24, math.ceil(COLD_BYTES / (one + out))))
    sets = []
    for seed in range(count):
        outputs = [
            TORCH.empty(t.shape, dtype=getattr(TORCH, t.dtype), device="cuda") for t in case.outputs
        ]
        sets.append((draw(case, 1000 + seed), outputs))
    return sets, one + out


class Clock:
    """Medians of single calls, all callers interleaved."""

    def __init__(self, calls, rounds):
        self.calls, self.rounds = calls, rounds
        self.events = [
            tuple(TORCH.cuda.Event(enable_timing=True) for _ in range(2)) for _ in range(calls)
        ]

    def once(self, callers, count):
        for number in range(count):
            begin, end = self.events[number]
            begin.record()
            callers[number % len(callers)]()
            end.record()

    def compare(self, named):
        """Microseconds by name: median, tenth and ninetieth percentile, number of calls."""
        plan = {}
        for name, callers in list(named.items()):
            for call in callers:
                call()
            TORCH.cuda.synchronize()
            begun = time.perf_counter()
            callers[0]()
            host = time.perf_counter() - begun
            TORCH.cuda.synchronize()
            whole = time.perf_counter() - begun
            count = self.calls if whole < 4e-3 else 3
            plan[name] = (count, int(min(8e-3, 1.5 * host * count + 2e-4) * 1.9e9))
        taken = {name: [] for name in named}
        for turn in range(self.rounds):
            order = list(named) if turn % 2 else list(named)[::-1]
            for name in order:
                count, cycles = plan[name]
                TORCH.cuda._sleep(cycles)
                self.once(named[name], count)
                TORCH.cuda.synchronize()
                taken[name] += [
                    1e3 * a.elapsed_time(b) for a, b in self.events[min(1, count - 1) : count]
                ]
        return {name: summary(values) for name, values in taken.items()}


def summary(values):
    ordered = sorted(values)
    at = [ordered[min(len(ordered) - 1, int(q * len(ordered)))] for q in (0.5, 0.1, 0.9)]
    return [*(round(value, 2) for value in at), len(ordered)]


def time_case(case, kernels, options, clock):
    """Times of kernels and rivals at one workload, and what they have to move and to do."""
    sets, moved = buffers(case)
    named, failed = {}, {}
    for label, kernel in kernels.items():
        try:
            calls = [kernel.bind(case, inputs, outputs) for inputs, outputs in sets]
            calls[0]()
            TORCH.cuda.synchronize()
            named[label] = calls
        except Exception as problem:  # noqa: BLE001 - a candidate's failure is a row
            failed[label] = str(problem)[:300]
    half = [TORCH.empty(moved // 2, dtype=TORCH.uint8, device="cuda") for _ in range(2 * len(sets))]
    pairs = zip(half[::2], half[1::2], strict=True)
    named["copy"] = [lambda a=a, b=b: b.copy_(a) for a, b in pairs]
    if options.rivals:
        for name, call in rivals(case, options).items():
            try:
                call(*sets[0][0])
                named[name] = [lambda c=call, i=inputs: c(*i) for inputs, _ in sets]
            except Exception as problem:  # noqa: BLE001 - a rival that cannot run is a row
                failed[name] = str(problem)[:300]
    work = case.task.table.get("work", {}).get("flops")
    with TORCH.no_grad():
        times = clock.compare(named)
    return {
        "axes": case.axes, "scalars": [v for _, v in case.scalars], "bytes": moved,
        "flops": EXPRESSIONS.evaluate(work, case.axes) if work else None,
        "sets": len(sets), "us": times, "failed": failed,
    }  # fmt: skip


# ------------------------------------------------------------------ one operation after another


class Bench:
    """All of one run: what is ordered, measured and written."""

    def __init__(self, options):
        self.options, self.begun = options, time.monotonic()
        self.builder = Builder(Path(tempfile.mkdtemp()), os.cpu_count() or 1)
        self.sources = {
            op: [
                source
                for path in sorted((PACKAGE / "experts" / op).glob("*/*"))
                if path.suffix in (".cu", ".py")
                and (source := Source(path))
                and re.search(options.only, source.name)
            ]
            for op in options.ops
        }
        self.facts = {"cores": 132, "shared_memory": 232448, "warp": 32}
        self.result = json.loads(options.out.read_text()) if options.out.exists() else {}
        self.sections = self.result.setdefault("ops", {})

    def points(self, source):
        """The default at each workload, then some others at the main one."""
        task = TASKS[source.op]
        main = next(one for one in task.timed if one["role"] == "main")
        every = list(source.points(main["axes"], self.facts))
        fixed = set(source.header.get("tune", {})) - set(self.options.vary or source.header["tune"])
        rest = [one for one in every[1:] if all(one[name] == every[0][name] for name in fixed)]
        wanted = self.options.tune if source.language == "cuda" else self.options.tune // 2
        drawn = random.Random(source.name).sample(rest, min(wanted, len(rest)))
        return main, every[:1], drawn

    def default(self, source, axes):
        return next(source.points(axes, self.facts), None)

    def order(self):
        for dtype in self.options.dtypes:
            for source in itertools.chain.from_iterable(self.sources.values()):
                task = TASKS[source.op]
                for axes in [one["axes"] for one in (*task.timed, task.smoke)]:
                    if (point := self.default(source, axes)) is not None:
                        self.builder.order(source, point, dtype)
                if dtype == self.options.dtypes[0]:
                    for point in self.points(source)[2]:
                        self.builder.order(source, point, dtype)

    def late(self):
        return time.monotonic() - self.begun > self.options.budget

    def say(self, text):
        print(f"[{time.monotonic() - self.begun:6.1f}] {text}", flush=True)

    def wait(self):
        """Until another process has checked; then leave out what it found wrong."""
        while self.options.after and not self.options.after.exists():
            time.sleep(0.1)
        for path in self.options.checked:
            for op, section in json.loads(path.read_text())["ops"].items():
                checks = section.get("checks", {})
                self.sources[op] = [
                    one
                    for one in self.sources.get(op, [])
                    if one.name in checks and not checks[one.name]["failed"]
                ]

    def run(self):
        self.order()
        self.wait()
        clock = Clock(self.options.calls, self.options.rounds)
        todo = []
        for op, sources in self.sources.items():
            seal = hashlib.sha256("".join(one.text for one in sources).encode()).hexdigest()[:16]
            old = self.sections.get(op, {})
            if sources and not (old.get("complete") and old.get("sources") == seal):
                self.sections[op] = {"sources": seal, "complete": False}
                todo.append(op)
        if self.options.check:
            for op in todo:
                self.check(op)
        if not self.options.time:
            for op in todo:
                self.prime(op)
            return
        for stage in (self.time, self.tune):
            for op in todo:
                if not self.late():
                    stage(op, clock)
                    self.write()
        for op in todo:
            self.sections[op]["complete"] = not self.late()
        self.write()

    def kernel(self, source, point, dtype):
        try:
            return Kernel(self.builder, source, point, dtype)
        except Exception as problem:  # noqa: BLE001 - a candidate's failure is a row
            return str(problem)

    def check(self, op):
        """Every kernel at odd shapes in every type, on hostile values, then at the workloads."""
        task, rows = TASKS[op], self.sections[op].setdefault("checks", {})
        kernels = {}
        for source in self.sources[op]:
            for dtype in self.options.dtypes:
                point = self.default(source, task.smoke["axes"]) or self.points(source)[1][0]
                made = self.kernel(source, point, dtype)
                row = rows.setdefault(source.name, {"point": point, "worst": 0.0, "failed": {}})
                if isinstance(made, str):
                    row["failed"][f"build {dtype}"] = made
                    continue
                if source.language == "cuda":
                    row[f"build_s_{dtype}"] = round(made.built.seconds, 1)
                    row[f"spilled_{dtype}"] = made.built.spills
                kernels[source.name, dtype] = made
        for dtype in self.options.dtypes:
            questions = [(case, None) for case in task.odd_cases(dtype)]
            smoke = task.case(task.smoke["axes"], {"T": dtype}, task.smoke.get("scalars"))
            questions += [(smoke, kind) for kind in (None, *HOSTILE)]
            if dtype == self.options.dtypes[0]:
                questions += [
                    (task.case(one["axes"], one.get("types", {}), one.get("scalars")), None)
                    for one in task.timed
                ]
            for number, (case, kind) in enumerate(questions):
                if self.late():
                    return
                inputs = draw(case, number, kind)
                truth = Truth(case, inputs)
                for (name, made_for), kernel in kernels.items():
                    again = dtype != self.options.dtypes[0]
                    compiles = again and kernel.source.language == "triton"
                    if made_for == dtype and not (compiles and number % 4):
                        found = check(kernel, case, inputs, truth)
                        self.note(rows[name], found, case, dtype, kind)
        for name, row in rows.items():
            self.say(f"check {op} {name}: worst {row['worst']} {row['failed'] or 'passed'}")
        self.write()

    def note(self, row, found, case, dtype, kind):
        if isinstance(found, float) and found <= 1:
            row["worst"] = max(row["worst"], found)
            row["asked"] = row.get("asked", 0) + 1
        else:
            row["failed"]["x".join(map(str, case.axes.values())) + f" {dtype} {kind}"] = found

    def prime(self, op):
        """Fill the caches of the framework's compiler, so that a process that times finds them."""
        for one in TASKS[op].timed:
            case = TASKS[op].case(one["axes"], one.get("types", {}), one.get("scalars"))
            if self.options.rivals and self.options.compile and not self.late():
                for name, call in rivals(case, self.options).items():
                    if name in ("compile", "max_autotune"):
                        with TORCH.no_grad():
                            call(*draw(case, 1))
        self.say(f"{op}: primed")

    def time(self, op, clock):
        task, rows = TASKS[op], self.sections[op].setdefault("times", {})
        for one in task.timed:
            if self.late() or not re.search(self.options.workloads, one["name"]):
                continue
            case = task.case(one["axes"], one.get("types", {}), one.get("scalars"))
            kernels = {}
            for source in self.sources[op]:
                point = self.default(source, one["axes"])
                made = self.kernel(source, point, case.types["T"]) if point is not None else ""
                if not isinstance(made, str):
                    kernels[source.name] = made
            rows[one["name"]] = row = time_case(case, kernels, self.options, clock)
            self.say(f"{op} {one['name']}: " + shown(row))

    def tune(self, op, clock):
        """Some points of each kernel, checked and timed: at the main workload, or at every one."""
        task, rows = TASKS[op], self.sections[op].setdefault("tuning", {})
        for source in self.sources[op]:
            main, default, drawn = self.points(source)
            everywhere = self.options.everywhere and source.language == "cuda"
            for one in task.timed if everywhere else [main]:
                valid = list(source.points(one["axes"], self.facts))
                points = [point for point in (*default, *drawn) if point in valid]
                if len(points) < 2 or self.late():
                    continue
                row = self.tune_case(task, one, source, points, clock)
                rows.setdefault(source.name, {})[one["name"]] = row
                best = sorted((v[0], k) for k, v in row["us"].items() if k != "copy")[:3]
                self.say(f"tune {op} {source.name} {one['name']}: {best} {row['failed'] or ''}")

    def tune_case(self, task, one, source, points, clock):
        case = task.case(one["axes"], one.get("types", {}), one.get("scalars"))
        inputs = draw(case, 5)
        truth, kernels, wrong = Truth(case, inputs), {}, {}
        for point in points:
            label = json.dumps(point)
            made = self.kernel(source, point, case.types["T"])
            found = made if isinstance(made, str) else check(made, case, inputs, truth)
            if isinstance(found, float) and found <= 1:
                kernels[label] = made
            else:
                wrong[label] = found
        quick = argparse.Namespace(**{**vars(self.options), "rivals": False})
        row = time_case(case, kernels, quick, clock)
        row["failed"] |= wrong
        return row

    def write(self):
        self.result |= {"session": session(self.options), "seconds": time.monotonic() - self.begun}
        self.options.out.parent.mkdir(parents=True, exist_ok=True)
        self.options.out.write_text(json.dumps(self.result, separators=(",", ":")) + "\n")


def shown(row):
    order = sorted(row["us"].items(), key=lambda item: item[1][0])
    failed = f" failed {row['failed']}" if row["failed"] else ""
    return " ".join(f"{name}={values[0]}" for name, values in order) + failed


def session(options):
    import triton

    nvcc = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=False)
    ask = ["nvidia-smi", "--query-gpu=driver_version,clocks.sm,temperature.gpu,power.draw"]
    ask.append("--format=csv,noheader")
    state = subprocess.run(ask, capture_output=True, text=True, check=False)
    return {
        "device": TORCH.cuda.get_device_name(0), "state": state.stdout.strip(),
        "python": sys.version.split()[0], "torch": TORCH.__version__, "triton": triton.__version__,
        "nvcc": nvcc.stdout.strip().splitlines()[-1] if nvcc.stdout else "",
        "commit": options.commit, "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "command": "gpu_experts.py " + " ".join(
            a for a in sys.argv[1:] if not a.startswith("/")
        ),
    }  # fmt: skip


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    every = sorted(path.name for path in (PACKAGE / "suites" / "core").iterdir() if path.is_dir())
    parser.add_argument("--ops", type=lambda text: text.split(","), default=every)
    parser.add_argument("--only", default="", help="expression that language/strategy contains")
    parser.add_argument("--workloads", default="", help="expression that the name contains")
    parser.add_argument("--dtypes", type=lambda text: text.split(","), default=list(CTYPES))
    parser.add_argument("--tune", type=int, default=0, help="other points to time at the main one")
    parser.add_argument("--vary", type=lambda text: text.split(","), help="tunables that differ")
    parser.add_argument("--everywhere", action="store_true", help="time those at every workload")
    parser.add_argument("--calls", type=int, default=14)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which to end")
    parser.add_argument("--after", type=Path, help="a file to wait for once builds are ordered")
    parser.add_argument("--checked", type=Path, nargs="*", default=[], help="results of checks")
    parser.add_argument("--commit", default="")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--max-autotune", action="store_true", help="too, at main workloads")
    for name in ("check", "time", "rivals", "compile"):
        parser.add_argument(f"--no-{name}", dest=name, action="store_false")
    return parser.parse_args()


if __name__ == "__main__":
    OPTIONS = arguments()
    TASKS = {op: Task(op) for op in OPTIONS.ops}
    BENCH = Bench(OPTIONS)
    BENCH.order()  # builds run while the framework is imported
    import torch as TORCH

    TORCH.backends.cudnn.allow_tf32 = False
    TORCH.cuda.set_stream(TORCH.cuda.Stream())
    BENCH.run()
