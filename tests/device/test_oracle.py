"""The oracle on numpy references: right answers, honest errors, and code that misbehaves."""

from __future__ import annotations

import math
import os
import shutil
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from kernelwright.errors import JudgeError, PrerequisiteError, TaskError
from kernelwright.evaluation.answers import EVERY
from kernelwright.evaluation.arena import numpy_dtype
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.oracle_process import NESTED
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.tasks import contract, edges, hostile, suites
from kernelwright.tasks.load import load_task


@pytest.fixture(scope="module")
def oracle():
    with Oracle() as started:
        yield started


def contents_of(oracle, case, seed=1):
    views = {one.name: np.zeros(one.shape, numpy_dtype(one.dtype)) for one in case.inputs}
    oracle.generate(seed, case, views)
    return views


def errors(answer, name):
    truth = answer["truth"][name]
    return [
        float(np.abs(one[name] - truth).max()) for part, one in answer.items() if part != "truth"
    ]


@pytest.mark.parametrize("name", suites.names())
def test_honest_errors_of_every_core_task(oracle, name):
    task = load_task(name, inspector=oracle.inspect)
    oracle.load(task)
    case = contract.resolve(task, contract.workload(task, "cpu", "smoke"))
    views = contents_of(oracle, case)
    kept = {key: view.copy() for key, view in views.items()}
    answer = oracle.truth(case, views, EVERY)
    assert all(np.array_equal(views[key], kept[key]) for key in views)
    (output,) = case.outputs
    truth = answer["truth"][output.name]
    assert truth.dtype == np.float64
    assert truth.shape == output.shape
    scale = float(np.abs(truth).max())
    for error in errors(answer, output.name):
        assert 0 < error < 1e-4 * scale
    if name != "rotary":  # the only one without a sum
        assert not np.array_equal(answer["native"][output.name], answer["serial"][output.name])
    other = oracle.truth(case, contents_of(oracle, case, 2), ("truth",))["truth"][output.name]
    assert float(np.abs(other - truth).max()) > 40 * max(errors(answer, output.name))


@pytest.mark.parametrize("name", suites.names())
def test_edges_and_hostile_inputs_of_every_core_task_have_answers(oracle, name):
    task = load_task(name, inspector=oracle.inspect)
    oracle.load(task)
    for case in edges.edge_cases(task, "cpu"):
        found = oracle.truth(case, contents_of(oracle, case))
        assert [array.shape for array in found["truth"].values()] == [
            output.shape for output in case.outputs
        ]
    case = contract.resolve(task, contract.workload(task, "cpu", "smoke"))
    for kind in hostile.kinds(case):
        views = contents_of(oracle, case)
        hostile.draw(case, kind, 5, views)
        found = oracle.truth(case, views)
        for output in case.outputs:
            finite = [np.isfinite(found[part][output.name]) for part in found]
            assert np.array_equal(finite[0], finite[1]), kind
            assert np.array_equal(finite[0], finite[2]), kind


def test_a_serial_sum_is_really_serial(oracle):
    task = load_task("reduction", inspector=oracle.inspect)
    oracle.load(task)
    case = contract.resolve(task, "cpu-7x257")
    views = {"x": np.full((7, 257), 1.0, np.float32)}
    views["x"][:, 0] = 2.0**24
    answer = oracle.truth(case, views)
    assert (answer["truth"]["y"] == 2.0**24 + 256).all()
    assert (answer["serial"]["y"] == 2.0**24).all()
    assert (answer["native"]["y"] > 2.0**24).all()


def test_a_narrow_type_sums_in_the_accumulate_type(oracle):
    task = load_task("reduction", inspector=oracle.inspect)
    oracle.load(task)
    case = contract.resolve(task, "gpu-7x1031")
    answer = oracle.truth(case, {"x": np.ones((7, 1031), numpy_dtype("bfloat16"))})
    for part in ("native", "serial"):  # 256 if it summed in bfloat16
        assert (answer[part]["y"] == 1032).all()
    assert (answer["truth"]["y"] == 1031).all()


def test_erf_and_conv_are_there(oracle, folder):
    task = folder(
        "def softmax(xp, x):\n"
        "    taps = xp.ones((1, 1, 1, 3), dtype=x.dtype)\n"
        "    return xp.conv(xp.erf(x)[None, None], taps, padding=(0, 1))[0, 0]\n"
    )
    oracle.load(task)
    case = contract.resolve(task, "cpu-7x257")
    views = contents_of(oracle, case)
    truth = oracle.truth(case, views)["truth"]["y"]
    wanted = sum(math.erf(value) for value in views["x"][3, 9:12].astype(float))
    assert math.isclose(truth[3, 10], wanted, rel_tol=1e-12)


# --- references that misbehave ----------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Makes the softmax task with another reference."""

    def make(source):
        target = tmp_path / "mine"
        if not target.exists():
            shutil.copytree(Path(str(suites.folder("softmax"))), target)
        (target / "reference.py").write_text(source)
        return load_task(target, inspector=lambda request: request)

    return make


@pytest.fixture(scope="module")
def hasty():
    with Oracle(deadline=3) as started:
        yield started


HOSTILE = {
    "raises": ("    raise KeyError('no such thing')\n", "raised KeyError: 'no such thing'"),
    "count": ("    return x, x\n", "returned 2 outputs, the task has 1"),
    "shape": ("    return x[0]\n", r"has shape \(257,\), declared is \(7, 257\)"),
    "dtype": ("    return x > 0\n", "is bool, declared is float32"),
    "nan": ("    return x / (x - x)\n", "holds NaN although all inputs are finite"),
    "random": (
        "    import numpy as np\n    return x + np.random.rand(*x.shape)\n",
        "differs between",
    ),
    "writes": ("    x -= 1\n    return x\n", "writes into its input 'x'"),
    "deadline": ("    import time\n    time.sleep(60)\n", "did not return within 3 s"),
    "exit": ("    import os\n    os._exit(0)\n", "exited with code 0"),
    "process": (
        "    import resource as r\n    r.setrlimit(r.RLIMIT_NOFILE, (40, 40))\n    return x\n",
        "lowered RLIMIT_NOFILE of its process: .* to 40",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_each_misbehaviour_has_its_kind_and_the_next_question_is_answered(hasty, folder, kind):
    body, words = HOSTILE[kind]
    task = folder("def softmax(xp, x):\n" + body.replace("x / (x - x)", "(x - x) / (x - x)"))
    hasty.load(task)
    case = contract.resolve(task, "cpu-7x257")
    views = contents_of(hasty, case)
    with pytest.raises(ReferenceFailure, match=words) as caught:
        hasty.truth(case, views)
    assert caught.value.kind == kind
    assert isinstance(caught.value, TaskError)
    assert caught.value.hint
    if kind in ("raises", "deadline"):
        assert caught.value.reason.startswith("reference.py:")
        assert "kernelwright/evaluation" not in caught.value.message
    good = load_task("softmax", inspector=hasty.inspect)
    hasty.load(good)
    assert hasty.truth(case, views)["truth"]["y"].sum() == pytest.approx(7)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    import numpy\n    numpy.abs(x, out=x)\n    return x\n", "into its input 'x'"),
        (
            "    import numpy\n    return numpy.maximum(x, -1e30, out=x) * 2\n",
            "writes into its input 'x'",
        ),
        (
            "    import numpy\n    y = numpy.broadcast_to(x[:1], x.shape)\n    y[0] = 1\n",
            "reference.py:4: the reference raised ValueError: assignment destination is read-only",
        ),
        ("    import sys\n    sys.exit(3)\n", "raised SystemExit: 3"),
        ("    return x.sum().item()\n", "returned a float, not an array"),
        ("    import ctypes\n    ctypes.string_at(0)\n", "crashed with SIGSEGV"),
        ("    import absent_package\n", "needs the package 'absent_package'"),
        ("    return x.astype('float64')\n", "is float64, declared is float32"),
    ],
)
def test_more_misbehaviour(hasty, folder, body, words):
    task = folder("def softmax(xp, x):\n" + body)
    hasty.load(task)
    case = contract.resolve(task, "cpu-7x257")
    with pytest.raises(ReferenceFailure, match=words):
        hasty.truth(case, contents_of(hasty, case))


MEDDLING = {
    "closes everything": ("os.closerange(0, 4096)", "closed the descriptors"),
    "closes its channel": ("os.closerange(3, 4096)", "closed the descriptors"),
    "closes what it prints to": ("os.close(1); os.close(2)", "closed or replaced standard output"),
    "closes and hangs": ("os.closerange(0, 4096); time.sleep(60)", "closed the descriptors"),
    "puts a file in the place": (
        "os.closerange(3, 64); [os.open('/dev/null', 0) for _ in range(64)]",
        "closed the descriptors",
    ),
    "allows itself no files": ("limit(r.RLIMIT_NOFILE, 3)", "lowered RLIMIT_NOFILE"),
    "allows itself no memory": ("limit(r.RLIMIT_AS, 1 << 20)", "lowered RLIMIT_AS"),
    "allows itself no depth": ("sys.setrecursionlimit(60)", "lowered the recursion limit"),
    "allows itself no time": ("limit(r.RLIMIT_CPU, 1)\n    while True: pass", "SIG(XCPU|KILL)"),
    "kills its group": ("os.kill(0, 9)", "crashed with SIGKILL"),
    "stops itself": ("os.kill(0, 19)", "did not return within 3 s"),
    "an alarm": ("signal.alarm(1); time.sleep(9)", "crashed with SIGALRM"),
}


@pytest.mark.parametrize("when", ["called", "loaded"])
@pytest.mark.parametrize("name", MEDDLING)
def test_a_reference_that_meddles_with_its_process_is_told_so(hasty, folder, name, when):
    text, words = MEDDLING[name]
    head = (
        "import os, resource as r, signal, sys, time\n"
        "def limit(kind, value):\n    r.setrlimit(kind, (value, value))\n"
    )
    source = f"def softmax(xp, x):\n    {text}\n    return x\n"
    if when == "loaded":
        source = f"def meddle():\n    {text}\nmeddle()\ndef softmax(xp, x):\n    return x\n"
    task = folder(head + source)
    case = contract.resolve(task, "cpu-7x257")

    def ask():
        hasty.load(task)
        hasty.truth(case, contents_of(hasty, case))

    with pytest.raises(ReferenceFailure, match=words) as caught:
        ask()
    assert caught.value.hint
    good = load_task("softmax", inspector=hasty.inspect)
    hasty.load(good)
    assert hasty.truth(case, contents_of(hasty, case))["truth"]["y"].sum() == pytest.approx(7)


def test_a_fork_of_the_reference_does_not_answer_too(hasty, folder):
    task = folder(
        "import os\n"
        "def softmax(xp, x):\n"
        "    child = os.fork()\n"
        "    if child:\n"
        "        os.waitpid(child, 0)\n"
        "    return x if child else x * 0\n"
    )
    hasty.load(task)
    case = contract.resolve(task, "cpu-7x257")
    views = contents_of(hasty, case)
    for _ in range(2):
        assert np.array_equal(hasty.truth(case, views)["truth"]["y"], views["x"])


@pytest.mark.parametrize("end", ["closed", "gone"])
def test_a_child_in_a_session_of_its_own_dies_too(folder, tmp_path, end):
    mark = tmp_path / "child"
    task = folder(
        "import os, time\n"
        "def softmax(xp, x):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0:\n"
        f"            open({str(mark)!r} + 'x', 'w').write(str(os.getpid()))\n"
        f"            os.rename({str(mark)!r} + 'x', {str(mark)!r})\n"
        "            time.sleep(1000)\n"
        "        os._exit(0)\n"
        f"    while not os.path.exists({str(mark)!r}):\n"
        "        time.sleep(0.01)\n" + ("    os._exit(4)\n" if end == "gone" else "    return x\n")
    )
    case = contract.resolve(task, "cpu-7x257")
    with Oracle(deadline=20) as started:
        started.load(task)
        views = contents_of(started, case)
        if end == "gone":
            with pytest.raises(ReferenceFailure, match="exited with code 4"):
                started.truth(case, views)
        else:
            started.truth(case, views)
    assert is_dead(int(mark.read_text()))


def test_an_answer_to_an_earlier_question_is_not_taken_for_the_next(folder):
    task = folder("def softmax(xp, x):\n    return x\n")
    case = contract.resolve(task, "cpu-7x257")
    with Oracle() as started:
        started.load(task)
        views = contents_of(started, case)
        first = started._process
        # A question whose answer nobody waited for.
        first.channel.send({"do": "load", "task": task.model_dump(mode="json"), "number": "old"})
        with pytest.raises(JudgeError, match="another request"):
            started.truth(case, views)
        assert not first.runs()
        assert np.array_equal(started.truth(case, views)["truth"]["y"], views["x"])


def test_many_slow_answers_have_one_deadline(folder):
    task = folder("import time\ndef softmax(xp, x):\n    time.sleep(0.2)\n    return x\n")
    case = contract.resolve(task, "cpu-7x257")
    with Oracle() as started:
        started.load(task)
        views = contents_of(started, case)
        started.truth(case, views, ("truth",))
        started.left = 0.1
        with pytest.raises(ReferenceFailure, match="all questions about it together") as caught:
            started.truth(case, views, ("truth",))
    assert caught.value.kind == "deadline"


def test_only_asking_takes_of_the_time_for_all_questions(folder):
    task = folder("import time\ndef softmax(xp, x):\n    time.sleep(0.2)\n    return x\n")
    case = contract.resolve(task, "cpu-7x257")
    with Oracle() as started:
        started.load(task)
        views = contents_of(started, case)
        started.left = 60.0
        time.sleep(0.5)
        assert started.left == 60.0
        started.truth(case, views, ("truth",))
        assert 0.2 <= 60.0 - started.left < 50.0


def test_memory_that_is_used_up_says_nothing_of_the_case(folder):
    for raised in ("MemoryError", 'RuntimeError("can\'t allocate memory")'):
        task = folder(f"def softmax(xp, x):\n    raise {raised}\n")
        case = contract.resolve(task, "cpu-7x257")
        with Oracle() as started:
            started.load(task)
            with pytest.raises(ReferenceFailure, match="used up the memory") as caught:
                started.truth(case, contents_of(started, case))
        assert caught.value.kind == "memory"
        assert not caught.value.undefined


def is_dead(pid):
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] in "ZX"


def test_a_crash_does_not_lose_the_task(hasty, folder, tmp_path):
    mark = tmp_path / "crashed"
    task = folder(
        "import os, pathlib\n"
        f"mark = pathlib.Path({str(mark)!r})\n"
        "def softmax(xp, x):\n"
        "    if not mark.exists():\n"
        "        mark.touch()\n"
        "        os.kill(os.getpid(), 9)\n"
        "    return x\n"
    )
    hasty.load(task)
    case = contract.resolve(task, "cpu-7x257")
    views = contents_of(hasty, case)
    with pytest.raises(ReferenceFailure, match="SIGKILL"):
        hasty.truth(case, views)
    assert np.array_equal(hasty.truth(case, views)["truth"]["y"], views["x"])


def test_a_flood_of_output_is_capped(oracle, folder):
    task = folder(
        "import sys\n"
        "def softmax(xp, x):\n"
        "    for _ in range(1 << 8):\n"
        "        sys.stdout.write('spam' * (1 << 18))\n"
        "    print('the end')\n"
        "    return x\n"
    )
    oracle.load(task)
    case = contract.resolve(task, "cpu-7x257")
    oracle.truth(case, contents_of(oracle, case))
    assert len(oracle.output()) < 1 << 16


def test_descendants_die_with_the_oracle(folder, tmp_path):
    mark = tmp_path / "child"
    task = folder(
        "import os, subprocess, time\n"
        "def softmax(xp, x):\n"
        "    child = subprocess.Popen(['sleep', '300'])\n"
        f"    open({str(mark)!r}, 'w').write(str(child.pid))\n"
        "    time.sleep(60)\n"
    )
    case = contract.resolve(task, "cpu-7x257")
    with Oracle(deadline=4) as started:
        started.load(task)
        with pytest.raises(ReferenceFailure, match="did not return"):
            started.truth(case, contents_of(started, case))
    assert is_dead(int(mark.read_text()))


def test_a_file_beside_the_reference_cannot_stand_in_for_a_library(oracle, folder):
    task = folder("import json\ndef softmax(xp, x):\n    import extra\n    return x + extra.ONE\n")
    beside = Path(task.reference.path).parent
    (beside / "extra.py").write_text("ONE = 1\n")
    (beside / "numpy.py").write_text("raise SystemExit\n")
    (beside / "colorsys.py").write_text("raise SystemExit\n")
    source = task.reference.source.replace("import json", "import colorsys")
    task = task.model_copy(
        update={"reference": task.reference.model_copy(update={"source": source})}
    )
    oracle.load(task)
    case = contract.resolve(task, "cpu-7x257")
    views = contents_of(oracle, case)
    assert np.array_equal(oracle.truth(case, views)["truth"]["y"], views["x"].astype(float) + 1)


def test_an_oracle_within_an_oracle_is_refused(monkeypatch):
    monkeypatch.setenv(NESTED, "1")
    with pytest.raises(TaskError, match="asked for its own judgement"):
        Oracle().start()


def test_an_interpreter_without_the_package_is_named(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no such module >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(JudgeError, match="no such module") as caught:
        Oracle(str(python)).start()
    assert "import kernelwright" in caught.value.hint


def test_its_memory_is_closed_to_others(oracle):
    oracle.start()
    pid = oracle._process.pid
    assert os.getpgid(pid) == pid
    assert Path(f"/proc/{pid}/mem").stat().st_uid == 0
    status = Path(f"/proc/{pid}/environ")
    if os.geteuid() != 0:
        with pytest.raises(PermissionError):
            status.read_bytes()
    else:
        assert b"KERNELWRIGHT_ORACLE=1" in status.read_bytes()
        assert b"PYTEST" not in status.read_bytes()


def test_numpy_callables_are_described_and_run(oracle, tmp_path):
    path = tmp_path / "ops.py"
    path.write_text(
        "import numpy as np\n"
        "def get_inputs():\n"
        "    return [np.random.rand(5, 7).astype(np.float32), 3, np.arange(7) % 3]\n"
        "def pick(rows, power, labels):\n"
        "    return {'total': np.sum(rows ** power, axis=1), 'kinds': labels @ labels}\n"
    )
    task = load_task(f"{path}:pick", inspector=oracle.inspect)
    assert contract.prototype(task, "cpp").splitlines()[-1] == (
        'extern "C" int pick(const float* rows, const int64_t* labels, float* total, '
        "int64_t* kinds, int64_t power);"
    )
    oracle.load(task)
    case = contract.resolve(task, "file")
    views = contents_of(oracle, case, 11)
    again = contents_of(oracle, case, 11)
    assert np.array_equal(views["rows"], again["rows"])
    assert not np.array_equal(views["rows"], contents_of(oracle, case, 12)["rows"])
    found = oracle.truth(case, views)
    assert found["truth"]["kinds"].dtype == np.int64
    assert found["truth"]["kinds"] == (views["labels"] ** 2).sum()
    assert np.allclose(found["truth"]["total"], (views["rows"].astype(float) ** 3).sum(1))


@pytest.mark.parametrize(
    ("given", "name", "words", "hint"),
    [
        (
            "np.ones((3, 4))",
            "f",
            "returned a ndarray, not a list",
            "let get_inputs() return a list",
        ),
        ("None", "f", "returned None, not a list", "let get_inputs() return a list"),
        ("[[1.0, 2.0]]", "f", "a list of plain numbers in place of an array", "let get_inputs()"),
        ("[np.ones(3)]", "rng", "is a int, which cannot be called", "its callables: f, g"),
    ],
)
def test_inputs_and_names_that_are_wrong_have_hints_of_their_own(
    oracle, tmp_path, given, name, words, hint
):
    path = tmp_path / "ops.py"
    path.write_text(
        f"import numpy as np\nrng = 3\ndef get_inputs():\n    return {given}\n"
        "def f(x):\n    return sum(x)\ng = lambda x: x\n"
    )
    with pytest.raises(ReferenceFailure, match=words) as caught:
        load_task(f"{path}:{name}", inspector=oracle.inspect)
    assert caught.value.hint.startswith(hint)


def test_constants_beside_arrays_are_no_slip(oracle, tmp_path):
    path = tmp_path / "ops.py"
    path.write_text(
        "import numpy as np\ndef get_inputs():\n    return [np.random.rand(3, 4), [1, 0]]\n"
        "def f(x, order):\n    return x.transpose(order)\n"
    )
    task = load_task(f"{path}:f", inspector=oracle.inspect)
    assert [one.name for one in task.inputs] == ["x"]


def test_a_function_of_a_library_is_told_what_to_do(oracle):
    with pytest.raises(ReferenceFailure, match=r"fromnumeric\.py is part of a package") as caught:
        load_task(np.sum, inspector=oracle.inspect, inputs=[np.ones(3)])
    assert caught.value.hint.startswith("write a function that calls it")


def test_examples_of_the_caller_set_the_range(oracle, tmp_path):
    path = tmp_path / "ops.py"
    path.write_text("def scale(rows, by, columns):\n    return rows * by + columns\n")
    given = [np.full((2, 3), 4.0), 0.5, np.ones(3)]
    task = load_task(f"{path}:scale", inspector=oracle.inspect, inputs=given)
    assert [one.values.kind for one in task.inputs] == ["uniform", "uniform"]
    oracle.load(task)
    case = contract.resolve(task, "file")
    views = contents_of(oracle, case)
    assert views["rows"].min() >= 4
    found = oracle.truth(case, views, ("truth",))["truth"]["out"]
    assert np.allclose(found, views["rows"] * 0.5 + views["columns"])


def test_a_missing_framework_is_a_prerequisite(tmp_path):
    if find_spec("torch"):
        pytest.skip("torch is installed")
    path = tmp_path / "m.py"
    path.write_text("import torch\nclass Model(torch.nn.Module): ...\ndef get_inputs(): ...\n")
    with Oracle() as started, pytest.raises(PrerequisiteError, match="torch") as caught:
        load_task(path, inspector=started.inspect)
    assert "scripts/setup --torch" in caught.value.hint
    assert "pip install 'kernelwright[torch]'" in caught.value.hint
