"""Torch references: the oracle's answers against torch itself, and foreign files."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from kernelwright.errors import TaskError
from kernelwright.evaluation.answers import EVERY
from kernelwright.evaluation.arena import numpy_dtype
from kernelwright.evaluation.interface import interface
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.evaluation.reference_failure import ReferenceFailure
from kernelwright.tasks import contract, hostile, suites
from kernelwright.tasks.load import load_task

pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")
EXAMPLES = Path(__file__).parents[2] / "examples" / "kernelbench"


@pytest.fixture(scope="module")
def oracle():
    with Oracle() as started:
        yield started


def contents_of(oracle, case, seed=1):
    views = {one.name: np.zeros(one.shape, numpy_dtype(one.dtype)) for one in case.inputs}
    oracle.generate(seed, case, views)
    return views


def read(oracle, path, **options):
    task = load_task(path, inspector=oracle.inspect, **options)
    oracle.load(task)
    return task, contract.resolve(task, "file")


@pytest.mark.parametrize("name", suites.names())
def test_truth_of_core_tasks_is_torchs_in_float64(oracle, name):
    import torch

    task = load_task(name, inspector=oracle.inspect)
    if not task.reference.fused:
        pytest.skip("the framework has no single call for it")
    oracle.load(task)
    namespace = {}
    exec(task.reference.source, namespace)
    case = contract.resolve(task, contract.workload(task, "cpu", "smoke"))
    views = contents_of(oracle, case)
    tensors = [torch.from_numpy(views[one.name]) for one in case.inputs]
    wide = [one.double() if one.is_floating_point() else one for one in tensors]
    scalars = [contract.scalar_value(one.dtype, one.value) for one in case.scalars]
    wanted = namespace["fused"](torch, *wide, *scalars).numpy()
    (output,) = case.outputs
    found = oracle.truth(case, views, ("truth",))["truth"][output.name]
    assert np.abs(found - wanted).max() <= 1e-12 * np.abs(wanted).max()


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_examples_have_honest_errors_and_move_with_the_seed(oracle, path):
    task, case = read(oracle, path)
    views, others = contents_of(oracle, case), contents_of(oracle, case, 2)
    for name, view in views.items():
        assert not np.array_equal(view, others[name])
        assert view.ndim == 0 or len(np.unique(view)) > 1
    answer, other = oracle.truth(case, views), oracle.truth(case, others, ("truth",))
    for output in task.outputs:
        truth = answer["truth"][output.name]
        if "float" not in output.dtype:
            assert all(np.array_equal(answer[part][output.name], truth) for part in answer)
            continue
        assert truth.dtype == np.float64
        scale = np.abs(truth).max()
        errors = [np.abs(answer[part][output.name] - truth).max() for part in ("native", "serial")]
        assert all(0 < error < 1e-5 * scale for error in errors)
        assert np.abs(other["truth"][output.name] - truth).max() > 100 * max(errors)
        if path.stem != "gelu_chain":
            assert not np.array_equal(answer["native"][output.name], answer["serial"][output.name])


def test_a_models_tensors_become_arguments_in_order(oracle):
    task, _ = read(oracle, EXAMPLES / "conv_norm.py")
    assert [one.name for one in task.inputs] == [
        "x", "conv_weight", "norm_weight", "norm_bias", "norm_running_mean", "norm_running_var",
    ]  # fmt: skip
    views = contents_of(oracle, contract.resolve(task, "file"))
    assert views["norm_running_var"].min() >= 1
    assert views["norm_bias"].max() > 0.1


def test_outputs_numbers_and_constants(oracle):
    task, _ = read(oracle, EXAMPLES / "row_extremes.py")
    assert [(one.name, one.dtype) for one in task.outputs] == [
        ("weights", "float32"),
        ("best", "int64"),
    ]
    task, case = read(oracle, EXAMPLES / "pooled_scale.py")
    assert [(one.name, one.dtype, one.value) for one in task.scalars] == [("scale", "float64", 1.5)]
    assert [one.name for one in task.inputs] == ["x"]
    views = contents_of(oracle, case)
    mean = views["x"].astype(float).mean(1)
    found = oracle.truth(case, views, ("truth",))["truth"]["out"]
    assert np.allclose(found, 1 / (1 + np.exp(-1.5 * mean)), rtol=1e-12)


def model(body, inputs="[torch.randn(4, 6)]", init="[]"):
    return (
        "import torch\nfrom torch import nn\n\n"
        f"class Model(nn.Module):\n{body}\n"
        f"def get_inputs():\n    return {inputs}\n"
        f"def get_init_inputs():\n    return {init}\n"
    )


def write(tmp_path, body, **options):
    path = tmp_path / "it.py"
    path.write_text(model(body, **options))
    return path


def test_train_mode_statistics_are_no_inputs(oracle, tmp_path):
    path = write(
        tmp_path,
        "    def __init__(self):\n        super().__init__()\n        self.n = nn.BatchNorm1d(6)\n"
        "    def forward(self, x):\n        return self.n(x)\n",
    )
    task, case = read(oracle, path)
    assert [one.name for one in task.inputs] == ["x", "n_weight", "n_bias"]
    first = oracle.truth(case, contents_of(oracle, case))
    again = oracle.truth(case, contents_of(oracle, case))
    assert np.array_equal(first["native"]["out"], again["native"]["out"])


def test_used_integer_buffers_and_shared_parameters(oracle, tmp_path):
    path = write(
        tmp_path,
        "    def __init__(self):\n        super().__init__()\n"
        "        self.a = nn.Linear(6, 6)\n        self.b = self.a\n"
        "        self.register_buffer('order', torch.tensor([5, 4, 3, 2, 1, 0]))\n"
        "        self.register_buffer('steps', torch.zeros((), dtype=torch.long))\n"
        "        self.shift = torch.ones(6)\n"
        "    def forward(self, x):\n"
        "        self.steps += 1\n"
        "        return self.b(self.a(x))[:, self.order] + self.shift\n",
    )
    task, case = read(oracle, path)
    assert [(one.name, one.dtype) for one in task.inputs] == [
        ("x", "float32"), ("a_weight", "float32"), ("a_bias", "float32"), ("order", "int64"),
    ]  # fmt: skip
    views = contents_of(oracle, case)
    w, b, x = (views[name].astype(float) for name in ("a_weight", "a_bias", "x"))
    wanted = ((x @ w.T + b) @ w.T + b)[:, ::-1] + 1
    found = oracle.truth(case, views)["truth"]["out"]
    assert np.allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize(
    ("forward", "kind"),
    [
        ("return nn.functional.dropout(x, 0.5, self.training)", "random"),
        ("raise RuntimeError('no luck')", "raises"),
        ("return x.sum().item()", "dtype"),
        ("return torch.log(x - 100)", "nan"),
        ("return x.add_(1) * 2", "writes"),
        ("return torch.relu_(x)", "writes"),
        ("import os; os._exit(1)", "exit"),
        ("return x.to(torch.complex64)", "dtype"),
    ],
)
def test_models_that_misbehave(oracle, tmp_path, forward, kind):
    path = write(tmp_path, f"    def forward(self, x):\n        {forward}\n")

    def ask():
        _, case = read(oracle, path)
        oracle.truth(case, contents_of(oracle, case))

    with pytest.raises(ReferenceFailure) as caught:
        ask()
    assert caught.value.kind == kind
    assert isinstance(caught.value, TaskError)


def test_casts_and_new_tensors_do_not_narrow_the_truth(oracle, tmp_path):
    path = write(
        tmp_path,
        "    def forward(self, x):\n"
        "        return x.to(torch.float32) @ torch.full((6, 2), 1 / 3, dtype=torch.float32)\n",
    )
    _, case = read(oracle, path)
    views = contents_of(oracle, case)
    truth = oracle.truth(case, views, ("truth",))["truth"]["out"]
    wanted = np.repeat(views["x"].astype(float).sum(1, keepdims=True) / 3, 2, axis=1)
    assert np.allclose(truth, wanted, rtol=1e-13)


OPERATIONS = {
    "layer_norm": "F.layer_norm(x, (x.shape[-1],))",
    "group_norm": "F.group_norm(x[:, :, None], 2)",
    "softmax": "torch.softmax(x, -1)",
    "logsumexp": "torch.logsumexp(x, -1)",
    "var": "torch.var(x, dim=1)",
    "std": "x.std()",
    "mean": "x.mean()",
    "norm": "torch.linalg.vector_norm(x, dim=1)",
    "linear": "F.linear(x, x[:5])",
    "matmul": "torch.matmul(x[None], x.t()[None])",
    "mv": "x @ x[0]",
    "dot": "torch.dot(x[0], x[1]).reshape(1)",
    "einsum": "torch.einsum('ij,kj->ik', x, x)",
    "attention": "F.scaled_dot_product_attention(*[x[None, None, :, :24] / 2] * 3)",
    "conv2d": "F.conv2d(x[None, None], x[:3, :5][None, None], stride=2, padding=1, dilation=2)",
    "conv1d": "F.conv1d(x[None, :32], x[:8, :48].reshape(8, 16, 3), groups=2)",
    "conv_transpose2d": "F.conv_transpose2d(x[None, :8, None], x[:8, :96].reshape(8, 3, 8, 4),"
    " stride=(1, 3), padding=(2, 1), output_padding=(0, 1), dilation=(1, 2))",
    "conv_transpose1d": "F.conv_transpose1d(x[None, :8], x[:8, :24].reshape(8, 4, 6),"
    " stride=2, padding=1, groups=2)",
    "mse": "F.mse_loss(x, x.flip(0)).reshape(1)",
    "cross_entropy": "F.cross_entropy(x, torch.arange(x.shape[0])).reshape(1)",
    "prod": "torch.prod(1 + 0.1 * x, dim=1)",
}


def test_serial_operations_are_right_and_serial(oracle, tmp_path):
    rows = "\n".join(f"            {name!r}: {text}," for name, text in OPERATIONS.items())
    path = tmp_path / "it.py"
    path.write_text(
        model(
            f"    def forward(self, x):\n        return {{\n{rows}\n        }}\n",
            inputs="[torch.randn(40, 700)]",
        ).replace(
            "from torch import nn\n", "from torch import nn\nimport torch.nn.functional as F\n"
        )
    )
    task, case = read(oracle, path)
    answer = oracle.truth(case, contents_of(oracle, case), EVERY)
    same = []
    for output, name in zip(task.outputs, OPERATIONS, strict=True):
        truth = answer["truth"][output.name]
        for part in EVERY[1:]:
            error = np.abs(answer[part][output.name] - truth).max()
            assert error < 2e-5 * np.abs(truth).max(), (name, part)
        if np.array_equal(answer["native"][output.name], answer["serial"][output.name]):
            same.append(name)
    assert same == []


def test_narrow_models(oracle, tmp_path):
    path = write(
        tmp_path,
        "    def __init__(self):\n        super().__init__()\n"
        "        self.l = nn.Linear(6, 3).to(torch.bfloat16)\n"
        "    def forward(self, x):\n        return self.l(x)\n",
        inputs="[torch.randn(4, 6).to(torch.bfloat16)]",
    )
    task, case = read(oracle, path)
    assert {one.dtype for one in (*task.inputs, *task.outputs)} == {"bfloat16"}
    views = contents_of(oracle, case)
    answer = oracle.truth(case, views)
    wide = {name: view.astype(float) for name, view in views.items()}
    wanted = wide["x"] @ wide["l_weight"].T + wide["l_bias"]
    assert np.allclose(answer["truth"]["out"], wanted, rtol=1e-12)
    for part in ("native", "serial"):
        assert 0 < np.abs(answer[part]["out"] - wanted).max() < 0.02 * np.abs(wanted).max()


def test_torch_callables_and_modules_with_examples(oracle, tmp_path):
    import torch

    path = tmp_path / "ops.py"
    path.write_text(
        "import torch\nfrom torch import nn\n"
        "def gate(x, k, index):\n    return torch.relu(x)[:, index] * k\n"
        "class Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.l = nn.Linear(6, 2)\n"
        "    def forward(self, x, k):\n        return self.l(x) * k\n"
    )
    given = [torch.randn(5, 6), 3, torch.tensor([0, 5])]
    task, case = read(oracle, f"{path}:gate", inputs=given)
    assert task.reference.kind == "torch"
    assert [(one.name, one.values.kind) for one in task.inputs] == [
        ("x", "normal"),
        ("index", "integers"),
    ]
    views = contents_of(oracle, case)
    found = oracle.truth(case, views)["truth"]["out"]
    assert np.allclose(found, np.maximum(views["x"], 0).astype(float)[:, views["index"]] * 3)
    task, case = read(oracle, f"{path}:Net", inputs=[*given[:1], 2.0])
    assert [(one.name, one.values.kind) for one in task.inputs] == [
        ("x", "normal"),
        ("l_weight", "given"),
        ("l_bias", "given"),
    ]
    views = contents_of(oracle, case)
    wide = {name: view.astype(float) for name, view in views.items()}
    found = oracle.truth(case, views)["truth"]["out"]
    assert np.allclose(found, (wide["x"] @ wide["l_weight"].T + wide["l_bias"]) * 2)
    assert interface(oracle, case)["outputs"] == [{"aliased": False, "strides": [2, 1]}]


def test_hostile_kinds_of_foreign_tasks_stay_defined(oracle):
    for path in sorted(EXAMPLES.glob("*.py")):
        _, case = read(oracle, path)
        for kind in hostile.kinds(case):
            views = contents_of(oracle, case)
            hostile.draw(case, kind, 3, views)
            oracle.truth(case, views)
