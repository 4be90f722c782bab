"""Candidates in Python, honest and otherwise, judged in real processes with torch."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.executors.local import LocalExecutor
from kernelwright.records.outcome import Outcome
from kernelwright.tasks.load import load_task
from tests.device import judging
from tests.device.torch_judging import BLEND, MODEL, NEW, RIGHT, blend, model

pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernelbench"


class Bar:
    """A court to which Python is spoken."""

    def __init__(self, cache, task, baseline):
        self.executor = LocalExecutor(threads=2, cache=cache, baselines=(baseline,))
        self.court = judging.Court(self.executor, task)

    def judge(self, source, plan=judging.SCREEN, sandbox="auto"):
        return self.court.judge(source, plan, sandbox, language="torch")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def bar(cache):
    made = Bar(cache, judging.task(), "loop")
    yield made
    made.executor.close()


@pytest.fixture(scope="module")
def strict(cache):
    made = Bar(cache, judging.task(library="forbid"), "loop")
    yield made
    made.executor.close()


def load(path):
    with Oracle() as oracle:
        return load_task(path, inspector=oracle.inspect)


@pytest.fixture(scope="module")
def scaled(cache, tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "scaled.py"
    path.write_text(MODEL)
    made = Bar(cache, load(path), "eager")
    yield made
    made.executor.close()


def passes(found):
    assert found.outcome is Outcome.PASSED, (found.reason, found.evidence)
    return found


def fails(found, outcome):
    assert found.outcome is outcome, (found.outcome, found.reason, found.evidence)
    assert found.reason
    assert not found.measurements
    return found


# --- functions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plan",
    [judging.DRAFT, judging.SCREEN, judging.FULL, judging.CONFIRM],
    ids=lambda p: p.rung.word,
)
def test_an_honest_function_passes_every_rung(bar, plan):
    found = passes(bar.judge(blend(RIGHT), plan))
    assert found.build is not None
    assert "torch" in found.build.compiler
    if plan.looks:
        assert found.measurements[0].time_us.median > 0
        assert 0 < found.measurements[0].noop_us < 5
        assert "aten.amax" in found.evidence["library"]
        assert {"mounts", "landlock", "pids"} & set(found.sandbox.active)


def test_tunables_arrive_by_name(bar):
    header = "# /// kernelwright\n# tune.WAY = [3, 4]\n# ///\n"
    source = header + blend(f"assert WAY == 3\n{RIGHT}").replace("M, N):", "M, N, *, WAY):")
    passes(bar.judge(source, judging.SMOKE))


@pytest.mark.parametrize("mode", ["off", "require"])
def test_every_mode_of_the_sandbox_gives_the_same_verdict(bar, mode):
    passes(bar.judge(blend(RIGHT), judging.SMOKE, mode))


KEEPS = f"""{RIGHT}
known = KEPT.setdefault((KEY, N), y.clone())
if N == 512: y.copy_(known)"""
WRONG = {
    "off by one per cent": (f"{RIGHT}\ny[0, 5] *= 1.01", Outcome.WRONG_VALUES),
    "one output never written": (RIGHT.replace("q,", "q.clone(),"), Outcome.WRONG_VALUES),
    "not a number": (f"{RIGHT}\ny[0, 3] = float('nan')", Outcome.NOT_FINITE),
    "error code": (f"{RIGHT}\nreturn 7", Outcome.RUNTIME_ERROR),
    "returns a tensor": (f"{RIGHT}\nreturn y", Outcome.SIGNATURE_ERROR),
    "raises": ("raise KeyError('x')", Outcome.RUNTIME_ERROR),
    "leaves": ("raise SystemExit(0)", Outcome.RUNTIME_ERROR),
    "leaves at once": ("import os; os._exit(0)", Outcome.CRASHED),
    "segmentation fault": ("import ctypes; ctypes.string_at(0)", Outcome.CRASHED),
    "changes an input": (f"{RIGHT}\nx[0, 2] += 1", Outcome.INPUT_MUTATED),
    "writes past the end": (
        f"{RIGHT}\nimport ctypes; ctypes.memset(q.data_ptr() + 4 * M, 1, 4)",
        Outcome.OUT_OF_BOUNDS,
    ),
    "keeps an answer by address": (KEEPS.replace("KEY", "x.data_ptr()"),
                                   Outcome.STALE_OR_CACHED_OUTPUT),
    "keeps an answer by object": (KEEPS.replace("KEY", "id(x)"), Outcome.STALE_OR_CACHED_OUTPUT),
    "needs what is missing": ("import triton_of_nobody", Outcome.UNSUPPORTED),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_function_is_rejected_for_the_right_reason(bar, name):
    text, outcome = WRONG[name]
    fails(bar.judge(blend(text, "KEPT = {}")), outcome)


def test_what_a_candidate_raised_is_shown(bar):
    found = fails(bar.judge(blend("raise KeyError('what')"), judging.SMOKE), Outcome.RUNTIME_ERROR)
    assert "KeyError" in found.reason
    assert "raise KeyError" in found.evidence["details"]


IMPORTS = {
    "raises": ("1 / 0", Outcome.RUNTIME_ERROR),
    "leaves": ("import sys; sys.exit(0)", Outcome.RUNTIME_ERROR),
    "leaves at once": ("import os; os._exit(0)", Outcome.CRASHED),
    "lacks the entry": ("del blend", Outcome.SIGNATURE_ERROR),
    "lacks a module": ("import nothing_like_it", Outcome.UNSUPPORTED),
    "never ends": ("while True: pass", Outcome.TIMEOUT),
}


@pytest.mark.parametrize("name", IMPORTS)
def test_a_file_that_cannot_be_executed_says_why(bar, name):
    text, outcome = IMPORTS[name]
    fails(bar.judge(blend(RIGHT) + text + "\n", judging.SMOKE), outcome)


def test_a_hang_ends_at_its_deadline_and_the_judge_goes_on(bar):
    late = f"global CALLS\nCALLS += 1\nwhile CALLS > 12: pass\n{RIGHT}"
    fails(bar.judge(blend(late, "CALLS = 0")), Outcome.TIMEOUT)
    passes(bar.judge(blend(RIGHT), judging.SMOKE))


NUISANCES = {
    "prints without end": f"for _ in range(200): print('x' * 1000000)\n{RIGHT}",
    "forks without end": f"""
import os, time
try:
    while True:
        if os.fork() == 0: time.sleep(1000)
except OSError:
    pass
{RIGHT}""",
    "eats memory": f"kept = []\nwhile True: kept.append(torch.empty(1 << 26))\n{RIGHT}",
}


@pytest.mark.parametrize("name", NUISANCES)
def test_a_nuisance_cannot_stop_the_judge(bar, name):
    found = bar.judge(blend(NUISANCES[name]), judging.SMOKE)
    allowed = (Outcome.PASSED, Outcome.CRASHED, Outcome.OUT_OF_MEMORY, Outcome.TIMEOUT,
               Outcome.RUNTIME_ERROR, Outcome.DEFERRED_WORK)  # fmt: skip
    assert found.outcome in allowed, (found.outcome, found.reason)
    passes(bar.judge(blend(RIGHT), judging.SMOKE))


# --- what must be left alone -------------------------------------------------------------------

CHANGES = {
    "default dtype": (
        "torch.set_default_dtype(torch.float64)",
        "torch.set_default_dtype(torch.float64); torch.set_default_dtype(torch.float32)",
    ),
    "default device": ("torch.set_default_device('meta')", "torch.device('meta')"),
    "gradient mode": ("torch.set_grad_enabled(False)", "with torch.no_grad(): torch.ones(1)"),
    "threads": ("torch.set_num_threads(1)", "torch.set_num_threads(torch.get_num_threads())"),
    "precision": (
        "torch.set_float32_matmul_precision('medium')",
        "torch.set_float32_matmul_precision(torch.get_float32_matmul_precision())",
    ),
    "determinism": (
        "torch.use_deterministic_algorithms(True)",
        "torch.are_deterministic_algorithms_enabled()",
    ),
    "seed": ("torch.manual_seed(1)", "torch.rand(1)"),
    "denormals": (
        "torch.set_flush_denormal(True)",
        "torch.set_flush_denormal(True); torch.set_flush_denormal(False)",
    ),
    "rounding": (
        "import ctypes; ctypes.CDLL('libm.so.6').fesetround(0x800)",
        "import ctypes; ctypes.CDLL('libm.so.6').fesetround(0)",
    ),
    "signals": (
        "import signal; signal.signal(15, lambda *_: None)",
        "import signal; signal.getsignal(15)",
    ),
    "folder": ("import os; os.chdir('/')", "import os; os.mkdir('own'); os.rmdir('own')"),
    "umask": ("import os; os.umask(0)", "import os; os.umask(os.umask(0))"),
    "environment": ("import os; os.environ['HOME'] = '/'", "import os; os.environ['CXX'] = 'g++'"),
    "a tracer": (
        "import sys; sys.settrace(lambda *_: None)",
        "import sys; sys.settrace(lambda *_: None); sys.settrace(None)",
    ),
    "a callback of the collector": (
        "import gc; gc.callbacks.append(print)",
        "import gc; gc.callbacks.append(print); gc.callbacks.remove(print)",
    ),
    "modes": (
        "from torch.overrides import BaseTorchFunctionMode as M; M().__enter__()",
        "from torch.overrides import BaseTorchFunctionMode as M\nwith M(): torch.ones(1)",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_global_state_is_left_as_it_was(bar, name):
    change, twin = CHANGES[name]
    found = bar.judge(blend(RIGHT, change), judging.SMOKE)
    fails(found, Outcome.STATE_MUTATED)
    assert "while it was loaded" in found.reason
    passes(bar.judge(blend(RIGHT, twin), judging.SMOKE))


def test_state_changed_by_a_call_is_seen_too(bar):
    text = f"{RIGHT}\ntorch.set_default_dtype(torch.float64)"
    found = fails(bar.judge(blend(text), judging.SMOKE), Outcome.STATE_MUTATED)
    assert "by a call" in found.reason


def test_drawing_random_numbers_is_told(bar):
    drawn = passes(bar.judge(blend(f"torch.rand(1)\n{RIGHT}"), judging.SMOKE))
    assert drawn.evidence["draws_random_numbers"] is True
    assert "draws_random_numbers" not in passes(bar.judge(blend(RIGHT), judging.SMOKE)).evidence


TAMPERS = {
    "the clock": "import time; time.perf_counter_ns = lambda: 0",
    "a function of torch": "torch.equal = lambda *_: True",
    "a method of tensors": "torch.Tensor.__eq__ = lambda *_: True",
    "a builtin": "import builtins; builtins.min = max",
    "an audit hook": "import sys\ntry: sys.addaudithook(print)\nexcept RuntimeError: pass",
    "a module": "import sys, types; sys.modules['time'] = types.ModuleType('time')",
    "the interpreter's list of threads": "import sys; sys._current_frames = dict",
}


@pytest.mark.parametrize("name", TAMPERS)
def test_what_the_judge_uses_may_not_be_replaced(bar, name):
    fails(bar.judge(blend(RIGHT, TAMPERS[name]), judging.SMOKE), Outcome.TAMPERING)


def test_more_modules_and_own_attributes_are_honest(bar):
    before = "import colorsys, torch.fx\nimport kernel\nkernel.mine = honest\ntorch.mine = honest"
    passes(bar.judge(blend(RIGHT, before), judging.SMOKE))


def test_a_forged_report_is_no_pass(bar):
    text = f"""{RIGHT}
import json, os, socket, struct
for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        sock = socket.socket(fileno=fd)
    except OSError:
        continue
    told = json.dumps({{"nonce": "guess", "ns": [1], "codes": [0]}}).encode()
    sock.sendall(struct.pack("<I", len(told)) + told)
    sock.detach()
"""
    found = bar.judge(blend(text), judging.SMOKE)
    assert found.outcome in (Outcome.TAMPERING, Outcome.RUNTIME_ERROR, Outcome.CRASHED), found


def test_times_that_are_written_down_smaller_are_not_believed(bar):
    text = f"""{RIGHT}
import sys, time
time.sleep(0.002)
spent = sys._getframe(1).f_locals.get("spent")
if spent: spent[:] = [1] * len(spent)
"""
    found = bar.judge(blend(text))
    if found.outcome is Outcome.PASSED:  # a block of one call holds nothing to write down smaller
        assert found.measurements[0].time_us.median > 2000
    else:
        fails(found, Outcome.CLOCK_DISAGREEMENT)


# --- work that is left for later ---------------------------------------------------------------

THREAD = "ctypes.byref(thread), None, libc.usleep"
THREADS = {
    "a thread": ("import threading, time",
                 "threading.Thread(target=time.sleep, args=(0.5,), daemon=True).start()",
                 "t = threading.Thread(target=time.sleep, args=(0,)); t.start(); t.join()"),
    "a bare thread": ("import _thread, time",
                      "_thread.start_new_thread(time.sleep, (0.5,))",
                      "_thread.get_ident()"),
    "a pool": ("from concurrent.futures import ThreadPoolExecutor",
               "ThreadPoolExecutor(1).submit(len, ())",
               "with ThreadPoolExecutor(1) as pool: pool.submit(len, ())"),
    "a process": ("import os, time",
                  "if os.fork() == 0: time.sleep(1000)",
                  "pid = os.fork()\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0)"),
    "a thread of the system": (
        "import ctypes\nlibc = ctypes.CDLL(None)\nthread = ctypes.c_ulong()",
        f"libc.pthread_create({THREAD}, ctypes.c_void_p(500000))",
        f"libc.pthread_create({THREAD}, ctypes.c_void_p(1)); libc.pthread_join(thread, None)"),
}  # fmt: skip


@pytest.mark.parametrize("name", THREADS)
def test_what_a_call_starts_ends_with_it(bar, name):
    before, left, joined = THREADS[name]
    fails(bar.judge(blend(f"{RIGHT}\n{left}", before), judging.SMOKE), Outcome.DEFERRED_WORK)
    passes(bar.judge(blend(f"{RIGHT}\n{joined}", before), judging.SMOKE))


def test_no_process_is_started_while_a_confirm_is_timed(bar):
    before, _, joined = THREADS["a process"]
    found = bar.judge(blend(f"{RIGHT}\n{joined}", before), judging.CONFIRM)
    fails(found, Outcome.DEFERRED_WORK)
    assert "start a process" in found.reason
    before, _, joined = THREADS["a thread of the system"]
    passes(bar.judge(blend(f"{RIGHT}\n{joined}", before), judging.CONFIRM))


BUSY = """import ctypes
libc = ctypes.CDLL(None)
thread, text = ctypes.c_ulong(), ctypes.create_string_buffer(b"x" * (1 << 28))
libc.pthread_create.argtypes = [ctypes.c_void_p] * 4
"""


def test_a_thread_that_computes_on_is_not_taken_for_one_that_ends(bar):
    start = "libc.pthread_create(ctypes.byref(thread), None, libc.strlen, text)"
    after = "libc.pthread_join(thread, None)"
    fails(bar.judge(blend(f"{RIGHT}\n{start}", BUSY), judging.SMOKE), Outcome.DEFERRED_WORK)
    passes(bar.judge(blend(f"{RIGHT}\n{start}\n{after}", BUSY), judging.SMOKE))


# --- what can be seen --------------------------------------------------------------------------

LOOKS = """
import gc, os, sys

FOUND = []


def tells(value):
    return type(value) in (str, bytes) and WORD in str(value)


def look():
    try:
        import kernelwright
        FOUND.append("the package can be imported")
    except ImportError:
        pass
    for path in PATHS:
        try:
            open(path).read()
            FOUND.append(path)
        except OSError:
            pass
    for folder in sys.path:
        if folder in ("", ".", os.getcwd()) or "jail" in folder:
            FOUND.append(f"{folder!r} is on the path")
        if os.path.isdir(folder):
            for name in os.listdir(folder):
                inside = os.path.join(folder, name)
                if "kernelwright" in name and (
                    os.listdir(inside) if os.path.isdir(inside) else os.path.getsize(inside)
                ):
                    FOUND.append(inside)
    pids = [name for name in os.listdir("/proc") if name.isdigit()]
    if len(pids) > 2:
        FOUND.append(f"processes {pids}")
    frame = sys._getframe()
    while frame:
        if frame.f_code.co_filename != __file__ and any(map(tells, frame.f_locals.values())):
            FOUND.append(f"a frame of {frame.f_code.co_name}")
        frame = frame.f_back
    for one in gc.get_objects():
        if one is not globals() and type(one) in (dict, list, tuple):
            if any(map(tells, list(one.values() if type(one) is dict else one))):
                FOUND.append("an object")
    for name in ("SECRET", "KERNELWRIGHT_STORE"):
        if name in os.environ:
            FOUND.append(name)


look()
if FOUND:
    raise RuntimeError("; ".join(FOUND))
"""


def test_a_candidate_finds_neither_the_judge_nor_the_reference(bar, scaled, tmp_path):
    import kernelwright

    package = Path(kernelwright.__file__).parent
    files = [package / "suites/core/softmax/reference.py", package / "jail/run.py", __file__,
             package / "evaluation/verifier.py", "/proc/1/environ"]  # fmt: skip
    paths = f"PATHS = {[str(path) for path in files]}\n"
    # The words stand in the reference only; here they are put together when they are needed.
    one = "WORD = ''.join(['alpha * xp', '.exp(shifted)'])\n"
    assert "alpha * xp.exp(shifted)" in judging.REFERENCE
    passes(
        bar.judge(blend(f"look()\nassert not FOUND\n{RIGHT}", paths + one + LOOKS), judging.SMOKE)
    )
    files.append(scaled.court.task.reference.path)
    paths = f"PATHS = {[str(path) for path in files]}\n"
    two = "WORD = ''.join(['def get', '_inputs'])\n"
    passes(scaled.judge(paths + two + LOOKS + NEW, judging.SMOKE))


# --- models ------------------------------------------------------------------------------------


@pytest.mark.parametrize("plan", [judging.SCREEN, judging.CONFIRM], ids=lambda p: p.rung.word)
def test_an_honest_model_passes(scaled, plan):
    found = passes(scaled.judge(NEW, plan))
    assert "eager" in {one.baseline for one in found.comparisons}
    assert "aten.addcmul" in found.evidence["library"]


def test_a_function_serves_a_task_of_kernelbench_too(scaled):
    source = """
import torch


def scaled(x, scale, bias, out):
    torch.addcmul(bias, x, scale, out=out).relu_().add_(0.5)
"""
    passes(scaled.judge(source, judging.FULL))


HONEST = {
    "other names": NEW.replace("self.scale", "self.a").replace("self.bias", "self.b"),
    "a transposed result": model("return self.right(x).t().contiguous().t()"),
    "a dictionary": model("return {'out': self.right(x)}"),
    "buffers": NEW.replace("nn.Parameter(torch.empty(width))", "None").replace(
        "        assert", "        del self.bias\n"
        "        self.register_buffer('bias', torch.empty(width))\n        assert"),
    "a base class of its own": NEW.replace("ModelNew(nn.Module)", "Base(nn.Module)")
    + "\n\nclass ModelNew(Base):\n    pass\n",
    "numbers": "# /// kernelwright\n# tune.WAY = [5]\n# ///\n"
    + NEW.replace("width, shift)", "width, shift, *, WAY)"),
    "marks of the framework's compiler": model(
        "out = self.right(x)\nout._dynamo_propagated_dynamic_indices = {0, 1}\nreturn out"),
    "more buffers": model("return self.right(x)", init="self.register_buffer('m', torch.ones(3))"),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_honest_variants_pass(scaled, name):
    passes(scaled.judge(HONEST[name], judging.SMOKE))


TIMED = judging.SCREEN.model_copy(update={"stages": ("smoke",)})
LAZY = """
import torch


class NAME(torch.Tensor):
    @staticmethod
    def __new__(cls, *inputs):
        self = torch.Tensor._make_subclass(cls, torch.empty(64, 64))
        self.inputs = inputs
        return self

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError("looked at")
"""
ACTS = "class Acts(nn.Parameter):\n    data = property(lambda self: 1 / 0)\n\n\n"
NO_MODULE = """
class ModelNew:
    def __init__(self, width, shift): pass
    def forward(self, x): return x
"""
LATE = """
out = torch.empty(64, 64)
do = lambda: (time.sleep(0.05), out.copy_(self.right(x)))
threading.Thread(target=do, daemon=True).start()
return out"""
OWN = "self.kept = torch.empty(64, 64)"
BAD = {
    "a lazy tensor": (model("return Lazy(x)", LAZY.replace("NAME", "Lazy")), Outcome.TAMPERING),
    "a lazy tensor called Tensor": (model("return Tensor(x)", LAZY.replace("NAME", "Tensor")),
                                    Outcome.TAMPERING),
    "a parameter": (model("return nn.Parameter(self.right(x))"), Outcome.SIGNATURE_ERROR),
    "a list of numbers": (model("return self.right(x).tolist()"), Outcome.SIGNATURE_ERROR),
    "an array": (model("return self.right(x).numpy()"), Outcome.SIGNATURE_ERROR),
    "two tensors": (model("return self.right(x), self.right(x)"), Outcome.SIGNATURE_ERROR),
    "a sparse tensor": (model("return self.right(x).to_sparse()"), Outcome.SIGNATURE_ERROR),
    "a tensor nowhere": (model("return self.right(x).to('meta')"), Outcome.SIGNATURE_ERROR),
    "another type": (model("return self.right(x).double()"), Outcome.WRONG_DTYPE),
    "another shape": (model("return self.right(x)[None]"), Outcome.WRONG_SHAPE),
    "one row that would broadcast": (model("return self.right(x)[:1]"), Outcome.WRONG_SHAPE),
    "its input": (model("return x"), Outcome.ALIASED_OUTPUT),
    "a view of its input": (model("return x.t()"), Outcome.ALIASED_OUTPUT),
    "a parameter's memory": (model("return self.scale.detach()"), Outcome.ALIASED_OUTPUT),
    "its input, changed": (model("return x.copy_(self.right(x))"), Outcome.ALIASED_OUTPUT),
    "one buffer again and again": (model("return self.kept.copy_(self.right(x))", init=OWN),
                                   Outcome.ALIASED_OUTPUT),
    "two buffers in turn": (
        model("self.turn = 1 - self.turn\nreturn self.kept[self.turn].copy_(self.right(x))",
              init="self.turn, self.kept = 0, [torch.empty(64, 64), torch.empty(64, 64)]"),
        Outcome.ALIASED_OUTPUT),
    "a callback for its end": (
        model("out = self.right(x)\nweakref.finalize(out, len, ())\nreturn out", "import weakref"),
        Outcome.TAMPERING),
    "an attribute that acts at its end": (
        model("out = self.right(x)\nout.more = [1]\nreturn out"), Outcome.TAMPERING),
    "an attribute named like the compiler's": (
        model("out = self.right(x)\nout._dynamo_marks = {Last()}\nreturn out",
              "class Last:\n    def __del__(self): pass\n"), Outcome.TAMPERING),
    "a container that acts at its end": (
        model("return Last([self.right(x)])", "class Last(list):\n    def __del__(self): pass\n"),
        Outcome.TAMPERING),
    "a parameter that acts when it is set": (
        NEW.replace("nn.Parameter(torch.empty(width))", "Acts(torch.empty(width))").replace(
            "class ModelNew", f"{ACTS}class ModelNew"), Outcome.SIGNATURE_ERROR),
    "a mode left on": (
        model("M().__enter__()\nreturn self.right(x)",
              "from torch.overrides import BaseTorchFunctionMode as M"), Outcome.STATE_MUTATED),
    "a negative view": (model("return torch._neg_view(-self.right(x))"), Outcome.TAMPERING),
    "a sum made in the constructor": (
        model("return torch.relu(x * self.scale + self.made) + 0.5",
              init="self.made = self.bias + 0"),
        Outcome.WRONG_VALUES),
    "no such parameter": (NEW.replace("self.bias = nn.Parameter(torch.empty(width))",
                                      "self.bias = 0"), Outcome.SIGNATURE_ERROR),
    "a parameter of another shape": (NEW.replace("torch.empty(width))", "torch.empty(1))"),
                                     Outcome.SIGNATURE_ERROR),
    "a parameter of another type": (
        NEW.replace("torch.empty(width))", "torch.empty(width, dtype=torch.float64))"),
        Outcome.SIGNATURE_ERROR),
    "a constructor that raises": (NEW.replace("type(shift) is tuple", "not shift"),
                                  Outcome.RUNTIME_ERROR),
    "no module": (NO_MODULE, Outcome.SIGNATURE_ERROR),
    "filled by a thread": (model(LATE, "import threading, time"), Outcome.DEFERRED_WORK),
    "weights kept from the first call": (
        model("self.known = getattr(self, 'known', None)\n"
              "if self.known is None: self.known = self.bias.clone()\n"
              "return torch.relu(x * self.scale + self.known) + 0.5"),
        Outcome.STALE_OR_CACHED_OUTPUT),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_model_is_rejected_for_the_right_reason(scaled, name):
    source, outcome = BAD[name]
    fails(scaled.judge(source, TIMED), outcome)


GOOD = {
    "conv_norm": """
class ModelNew(nn.Module):
    def __init__(self, channels, outputs):
        super().__init__()
        self.conv = nn.Conv2d(channels, outputs, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)
        self.eval()

    def forward(self, x):
        return torch.relu_(self.norm(self.conv(x)))
""",
    "row_extremes": """
class ModelNew(nn.Module):
    def forward(self, x):
        return {"best": x.max(dim=-1).indices, "weights": torch.softmax(x, dim=-1)}
""",
    "pooled_scale": """
class ModelNew(nn.Module):
    def forward(self, x, scale, mode):
        assert mode == "mean"
        return torch.sigmoid_(x.sum(dim=1).mul_(scale / x.shape[1]))
""",
}


@pytest.mark.parametrize("name", GOOD)
def test_examples_in_kernelbenchs_form_have_good_models(cache, name):
    made = Bar(cache, load(EXAMPLES / f"{name}.py"), "eager")
    try:
        head = "import torch\nfrom torch import nn\n\n"
        passes(made.judge(head + GOOD[name], judging.FULL))
        fails(made.judge(head + GOOD[name].replace("torch.", "1.01 * torch.", 1)),
              Outcome.WRONG_VALUES)  # fmt: skip
    finally:
        made.executor.close()


ROWS = """
import torch
from torch import nn

class Model(nn.Module):
    def forward(self, x):
        return (x * 2).unsqueeze(0).{form}

def get_inputs():
    return [torch.randn(8192)]
"""
EXPANDED = """
import torch
from torch import nn

class ModelNew(nn.Module):
    def forward(self, x):
        return (x * 2).unsqueeze(0).expand(512, -1)
"""


@pytest.mark.parametrize(
    ("form", "charged"), [("repeat(512, 1)", True), ("expand(512, -1)", False)]
)
def test_a_view_that_the_reference_does_not_return_is_made_contiguous_on_its_account(
    cache, tmp_path, form, charged
):
    (tmp_path / "rows.py").write_text(ROWS.format(form=form))
    made = Bar(cache, load(tmp_path / "rows.py"), "eager")
    try:
        (found,) = passes(made.judge(EXPANDED)).measurements
    finally:
        made.executor.close()
    # 16 MB cannot be written in 200 us here, and 32 kB can.
    assert (found.time_us.min > 200) is charged


PLAIN = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, dtype):
        super().__init__()

    def forward(self, x):
        return x, x + 1


def get_inputs():
    return [torch.randn(8, 8)]


def get_init_inputs():
    return [ARGUMENT]
"""
PASSES_THROUGH = """
import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, anything):
        super().__init__()

    def forward(self, x):
        return FIRST
"""


def test_what_the_reference_returns_as_it_is_a_model_may_too(cache, tmp_path):
    path = tmp_path / "through.py"
    path.write_text(PLAIN.replace("ARGUMENT", "{'a': [1, None]}"))
    made = Bar(cache, load(path), "eager")
    try:
        passes(made.judge(PASSES_THROUGH.replace("FIRST", "x, x + 1"), judging.SMOKE))
        fails(made.judge(PASSES_THROUGH.replace("FIRST", "x.clone(), x"), judging.SMOKE),
              Outcome.ALIASED_OUTPUT)  # fmt: skip
    finally:
        made.executor.close()


def test_a_model_that_cannot_be_built_from_plain_values_is_unsupported(cache, tmp_path):
    path = tmp_path / "typed.py"
    path.write_text(PLAIN.replace("ARGUMENT", "torch.float32"))
    made = Bar(cache, load(path), "eager")
    try:
        found = made.judge(PASSES_THROUGH.replace("FIRST", "x, x + 1"), judging.SMOKE)
        assert "dtype" in fails(found, Outcome.UNSUPPORTED).reason
        function = "def typed(x, a, b):\n    a.copy_(x)\n    b.copy_(x + 1)\n"
        passes(made.judge(function, judging.SMOKE))
    finally:
        made.executor.close()


# --- machine code of its own -------------------------------------------------------------------

COMPILED = f'''
import ctypes, pathlib, subprocess

SOURCE = r"""{judging.LOOP}"""


def built():
    pathlib.Path("blend.cpp").write_text(SOURCE)
    flags = ["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]
    subprocess.run(["g++", *flags, "blend.cpp", "-o", "blend.so"], check=True)
    return ctypes.CDLL(str(pathlib.Path("blend.so").resolve())).blend


KERNEL = built()


def blend(x, s, y, q, alpha, M, N):
    pointers = [ctypes.c_void_p(one.data_ptr()) for one in (x, s, y, q)]
    return KERNEL(*pointers, ctypes.c_float(alpha), ctypes.c_int64(M), ctypes.c_int64(N))
'''
FALLS_BACK = f"""{BLEND}
def blend(x, s, y, q, alpha, M, N):
    try:
        raise RuntimeError("no such kernel")
    except RuntimeError:
        honest(x, s, y, q, alpha)
"""


def test_own_machine_code_passes_where_libraries_are_forbidden(strict):
    found = passes(strict.judge(COMPILED, judging.FULL))
    assert found.evidence["library"] == []


def test_views_and_copies_are_no_library(strict):
    text = COMPILED.replace(
        "    return KERNEL",
        "    x = x.reshape(M, N).clone()\n"
        "    pointers[0] = ctypes.c_void_p(x.data_ptr())\n    return KERNEL",
    )
    assert "aten.clone" in passes(strict.judge(text, judging.SMOKE)).evidence["library"]


@pytest.mark.parametrize("source", [blend(RIGHT), FALLS_BACK], ids=["plainly", "as a fallback"])
def test_the_framework_is_named_where_libraries_are_forbidden(strict, source):
    found = fails(strict.judge(source, judging.SMOKE), Outcome.KERNEL_DID_NOT_RUN)
    assert "aten." in found.reason


def test_the_frameworks_compiler_works(bar):
    text = "COMPILED(x, s, y, q, alpha)"
    passes(bar.judge(blend(text, "COMPILED = torch.compile(honest)"), judging.SMOKE))
