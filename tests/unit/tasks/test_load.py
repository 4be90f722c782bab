"""Every way to name a task, and what is said when it is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from kernelwright import plugins
from kernelwright.errors import TaskError
from kernelwright.tasks import suites
from kernelwright.tasks.load import load_task

CORE = suites.suites()["core"]
EXAMPLES = Path(__file__).parents[3] / "examples" / "kernelbench"


def refuse(request):
    raise AssertionError("nothing may be executed for this task")


def inspector(answer):
    def inspect(request):
        inspect.request = request
        return answer

    return inspect


DESCRIPTION = {
    "kind": "kernelbench",
    "inputs": [{"name": "x", "shape": [2, 3], "dtype": "float32"}],
    "outputs": [{"name": "out", "shape": [2], "dtype": "float32"}],
    "scalars": [],
}


@pytest.mark.parametrize("name", CORE)
def test_a_built_in_task_is_read_without_running_anything(name):
    task = load_task(name, inspector=refuse)
    assert task.name == name
    assert task.reference.kind == "array"
    assert task.reference.fused == ("def fused(" in task.reference.source)
    assert 'extern "C"' in task.baseline


def test_an_unknown_name_brings_the_nearest():
    with pytest.raises(TaskError, match="unknown task 'sofmax'") as caught:
        load_task("sofmax", inspector=refuse)
    assert caught.value.hint == "did you mean 'softmax'?"


@pytest.fixture
def folder(tmp_path):
    target = tmp_path / "mine"
    shutil.copytree(Path(str(suites.folder("softmax"))), target)
    return target


def edit(folder, old, new):
    path = folder / "task.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_folder_or_its_task_toml_is_a_task(folder):
    for spec in (folder, str(folder), folder / "task.toml"):
        assert load_task(spec, inspector=refuse).name == "softmax"


def test_a_slip_of_syntax_names_file_and_line(folder):
    edit(folder, 'entry = "softmax"', "entry = softmax")
    with pytest.raises(TaskError, match=r"task\.toml:2:\d+: not TOML: invalid value") as caught:
        load_task(folder, inspector=refuse)
    assert caught.value.hint.startswith("are quotes missing?")


def test_a_reference_that_is_no_python_is_said_once(folder):
    (folder / "reference.py").write_text("import math\ndef softmax(x)\n    return x\n")
    with pytest.raises(TaskError, match=r"reference\.py:2: not Python: expected ':'$"):
        load_task(folder, inspector=refuse)


def test_what_a_folder_lacks_is_said(folder):
    (folder / "reference.py").unlink()
    with pytest.raises(TaskError, match=r"there is no .*reference\.py") as caught:
        load_task(folder, inspector=refuse)
    assert "task.toml and reference.py" in caught.value.hint
    (folder / "task.toml").write_text("\n")
    with pytest.raises(TaskError, match=r"task\.toml is empty") as caught:
        load_task(folder, inspector=refuse)
    assert "task-format.md" in caught.value.hint


def test_every_device_has_a_main_workload(folder):
    text = (folder / "task.toml").read_text()
    (folder / "task.toml").write_text(text.replace('role = "main"', 'role = "extra"', 1))
    with pytest.raises(TaskError, match="no workload for the cpu has the role main") as caught:
        load_task(folder, inspector=refuse)
    assert 'role = "main"' in caught.value.hint


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("k = 4.0", "k = -1.0", "tolerance.k: must be above 0, not -1.0"),
        ("k = 4.0", "ulps = 0.5", "tolerance.ulps: must be at least 1, not 0.5"),
        ('dtype = "T"', 'dtype = "float33"', "'x' has unknown dtype 'float33'"),
        ('summary = "', 'sumary = "', "sumary: is no field, did you mean 'summary'?"),
        ('role = "smoke"', 'rol = "smoke"', "workloads.0.rol: is no field, did you mean 'role'?"),
        ('entry = "softmax"', 'entry = "soft max"', "entry: must be a name: letters, digits and _"),
    ],
)
def test_a_wrong_field_is_one_sentence(folder, old, new, sentence):
    edit(folder, old, new)
    if "entry" in old:
        edit(folder, 'op = "softmax"', 'reference = {entry = "softmax"}')
    with pytest.raises(TaskError) as caught:
        load_task(folder, inspector=refuse)
    assert sentence in caught.value.message


def test_a_reference_without_the_entry_is_refused(folder):
    (folder / "reference.py").write_text("def sofmax(xp, x):\n    return x\n")
    with pytest.raises(TaskError, match="defines no function 'softmax'") as caught:
        load_task(folder, inspector=refuse)
    assert caught.value.hint == "did you mean 'sofmax'?"


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def softmax(xp, x):\n    return x\n", "array"),
        ("import torch\ndef softmax(x):\n    return x\n", "torch"),
        ("def softmax(x):\n    return x\n", "numpy"),
    ],
)
def test_the_kind_of_a_reference_is_seen_in_its_syntax(folder, source, kind):
    (folder / "reference.py").write_text(source)
    assert load_task(folder, inspector=refuse).reference.kind == kind


def test_a_kernelbench_file_is_described_by_the_oracle_only(tmp_path):
    path = tmp_path / "boom.py"
    path.write_text("raise SystemExit\nclass Model: ...\ndef get_inputs(): ...\n")
    inspect = inspector(DESCRIPTION)
    task = load_task(path, inspector=inspect)
    assert inspect.request["format"] == "kernelbench"
    assert (task.entry, task.reference.entry) == ("boom", "Model")
    assert task.inputs[0].values.kind == "given"
    assert {one.device for one in task.workloads} == {"cpu", "gpu"}
    assert task.reference.source == path.read_text()


def test_a_callable_takes_examples(tmp_path):
    path = tmp_path / "ops.py"
    path.write_text("def halve(x, by):\n    '''Divide.'''\n    return x / by\n")
    inspect = inspector(DESCRIPTION | {"kind": "numpy"})
    examples = [np.arange(6, dtype=np.float32).reshape(2, 3), 2.0]
    task = load_task(f"{path}:halve", inspector=inspect, inputs=lambda: examples)
    assert task.summary == "Divide"
    assert inspect.request["examples"][0] == {
        "shape": [2, 3],
        "dtype": "float32",
        "values": {"kind": "uniform", "low": 0.0, "high": 5.0},
        "torch": False,
    }
    assert inspect.request["examples"][1] == {"scalar": 2.0}


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (np.array([True, False]), {"kind": "integers", "low": 0, "high": 2}),
        (np.array([3, 7], dtype=np.int32), {"kind": "integers", "low": 3, "high": 8}),
        (np.array([-1.0, 1.0]), {"kind": "normal", "mean": 0.0, "std": 1.0}),
        (np.full(4, 2.0), {"kind": "uniform", "low": 2.0, "high": 2.25}),
    ],
)
def test_examples_become_ranges(tmp_path, array, values):
    path = tmp_path / "ops.py"
    path.write_text("def same(x):\n    return x\n")
    inspect = inspector(DESCRIPTION | {"kind": "numpy"})
    load_task(f"{path}:same", inspector=inspect, inputs=[array])
    assert inspect.request["examples"][0]["values"] == values


def in_this_file(x):
    return x


def test_a_function_object_is_found_in_its_file():
    inspect = inspector(DESCRIPTION | {"kind": "numpy"})
    load_task(in_this_file, inspector=inspect, inputs=[np.ones(3)])
    assert inspect.request["name"] == "in_this_file"
    assert Path(inspect.request["path"]) == Path(__file__)


def test_what_the_oracle_could_not_find_is_refused():
    made = eval("lambda x: x")
    for function, words in (
        (made, "no source file"),
        (lambda x: x, "not defined at the top level"),
    ):
        with pytest.raises(TaskError, match=words) as caught:
            load_task(function, inspector=refuse, inputs=[np.ones(3)])
        assert "process of its own" in caught.value.hint


def test_examples_must_be_arrays_and_numbers():
    with pytest.raises(TaskError, match="example input 1 is a str"):
        load_task(in_this_file, inspector=refuse, inputs=[np.ones(3), "mean"])


def test_a_callable_without_inputs_is_refused(tmp_path):
    path = tmp_path / "ops.py"
    path.write_text("def same(x):\n    return x\n")
    with pytest.raises(TaskError, match="'same' has no example inputs"):
        load_task(f"{path}:same", inspector=refuse)
    with pytest.raises(TaskError, match="defines no 'sane'") as caught:
        load_task(f"{path}:sane", inspector=refuse)
    assert caught.value.hint == "did you mean 'same'?"
    with pytest.raises(TaskError, match="no class Model") as caught:
        load_task(path, inspector=refuse)
    assert caught.value.hint.endswith("ops.py:same")
    path.write_text("def same(x):\n    return x\ndef other(x):\n    return x\n")
    with pytest.raises(TaskError, match="no class Model") as caught:
        load_task(path, inspector=refuse)
    assert caught.value.hint.endswith("ops.py:NAME (NAME is one of same, other)")
    with pytest.raises(TaskError, match="inputs is a ndarray, not a list") as caught:
        load_task(f"{path}:same", inspector=refuse, inputs=np.ones(3))
    assert "inputs=[x" in caught.value.hint


def test_a_model_without_inputs_is_told_what_it_lacks(tmp_path):
    path = tmp_path / "kb.py"
    path.write_text("class Model:\n    def forward(self, x):\n        return x\n")
    with pytest.raises(TaskError, match="Model has no get_inputs") as caught:
        load_task(path, inspector=refuse)
    assert "add get_inputs()" in caught.value.hint


def test_a_function_that_was_compiled_is_to_be_called_by_another():
    with pytest.raises(TaskError, match="'add' has no source file") as caught:
        load_task(np.add, inspector=refuse, inputs=[np.ones(3), np.ones(3)])
    assert caught.value.hint.startswith("write a function that calls it")


def test_python_that_does_not_parse_names_its_line(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("x = 1\ndef f(:\n")
    with pytest.raises(TaskError, match=r"broken\.py:2: not Python"):
        load_task(path, inspector=refuse)


def test_formats_come_from_the_table(monkeypatch):
    class Fixed:
        def matches(self, spec):
            return spec.text == "fixed"

        def read(self, spec, inspector, inputs):
            return load_task("matmul", inspector=inspector)

    monkeypatch.setattr(plugins, "names", lambda kind: ("native", "fixed"))
    real = plugins.load
    monkeypatch.setattr(
        plugins, "load", lambda kind, name: Fixed if name == "fixed" else real(kind, name)
    )
    assert load_task("fixed", inspector=refuse).name == "matmul"


def test_examples_are_kernelbench_files():
    seen = []

    def inspect(request):
        seen.append(request["format"])
        return DESCRIPTION

    for path in sorted(EXAMPLES.glob("*.py")):
        assert load_task(path, inspector=inspect).entry == path.stem
    assert seen == ["kernelbench"] * 6


@pytest.mark.parametrize("name", ["task.toml", "reference.py", "baseline.cpp"])
def test_a_file_of_a_task_that_is_too_long_is_refused(tmp_path, name):
    shutil.copytree(Path(str(suites.folder("softmax"))), tmp_path / "mine")
    path = tmp_path / "mine" / name
    path.write_text(path.read_text() + "\n" * (1 << 20))
    with pytest.raises(TaskError, match=f"{name}: it has more than 1 MiB"):
        load_task(tmp_path / "mine", inspector=lambda request: request)


def test_a_python_file_that_is_too_long_is_refused(tmp_path):
    path = tmp_path / "ops.py"
    path.write_text("def f(x):\n    return x\n" + "#" * (1 << 20))
    with pytest.raises(TaskError, match=r"ops.py: it has more than 1 MiB"):
        load_task(f"{path}:f", inspector=lambda request: request)
