"""One order of arguments for prototypes and for the worker's binding."""

from __future__ import annotations

import keyword
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.errors import TaskError
from kernelwright.records.task import Reference, Scalar, Task, Tensor, Values, Workload
from kernelwright.tasks import contract
from kernelwright.tasks.identifier import identifier


def make(**changes):
    fields = {
        "name": "demo",
        "entry": "demo",
        "types": {"T": "float32"},
        "axes": {"M": "free", "K": "N // 2", "N": "fixed", "L": "K + 1"},
        "inputs": (
            Tensor(name="x", dtype="T", shape=("M", "N"), strided=True),
            Tensor(
                name="label",
                dtype="int64",
                shape=("M",),
                values=Values(kind="integers", low=0, high="N"),
            ),
        ),
        "outputs": (Tensor(name="y", dtype="T", shape=("M", "L", 3)),),
        "scalars": (Scalar(name="eps", dtype="T", value=0.5),),
        "workloads": (
            Workload(name="a", device="cpu", role="main", axes={"M": 4, "N": 10}),
            Workload(
                name="g",
                device="gpu",
                role="main",
                axes={"M": 4, "N": 10},
                types={"T": "bfloat16"},
                scalars={"eps": 2.0},
            ),
        ),
        "reference": Reference(kind="array", entry="demo", source=""),
    }
    return Task(**(fields | changes))


def test_everything_is_concrete():
    case = contract.resolve(make(), "g")
    assert [one.shape for one in (*case.inputs, *case.outputs)] == [(4, 10), (4,), (4, 6, 3)]
    assert case.axes == {"M": 4, "N": 10}
    assert case.inputs[0].dtype == case.scalars[0].dtype == "bfloat16"
    assert case.scalars[0].value == 2.0
    assert case.inputs[1].values.high == 10.0


def test_the_order_is_inputs_outputs_scalars_axes():
    found = contract.arguments(contract.resolve(make(), "a"))
    assert [(one.kind, one.name) for one in found] == [
        ("tensor", "x"),
        ("strides", "x_strides"),
        ("tensor", "label"),
        ("tensor", "y"),
        ("scalar", "eps"),
        ("axis", "M"),
        ("axis", "N"),
    ]
    assert [one.value for one in found[-3:]] == [0.5, 4, 10]


@pytest.mark.usefixtures("toy_languages")
def test_prototypes_are_exact():
    task = make()
    assert contract.prototype(task, "cpp").splitlines()[-1] == (
        'extern "C" int demo(const float* x, const int64_t* x_strides, const int64_t* label, '
        "float* y, float eps, int64_t M, int64_t N);"
    )
    assert contract.prototype(task, "toy-c", "gpu").splitlines()[-1] == (
        'extern "C" int demo(const toy_bfloat16* x, const int64_t* x_strides, '
        "const int64_t* label, toy_bfloat16* y, float eps, int64_t M, int64_t N, "
        "toyStream_t stream);"
    )
    python = contract.prototype(task, "toy-py", "gpu").splitlines()
    assert python[-1] == "def demo(x, label, y, eps, M, N): ..."
    assert "# label: [M] int64, contiguous, read only, values from 0 to below N" in python
    assert any(line.startswith("# x holds infinities and NaN in some checks") for line in python)
    assert "uint16_t* x" in contract.prototype(
        make(types={"T": "bfloat16"}, workloads=make().workloads[:1]), "cpp"
    )


def test_cuda_is_told_the_macro_of_each_type():
    lines = contract.prototype(make(), "cuda").splitlines()
    assert lines[-2:] == [
        "#define DTYPE_T __nv_bfloat16",
        (
            'extern "C" int demo(const __nv_bfloat16* x, const int64_t* x_strides, '
            "const int64_t* label, __nv_bfloat16* y, float eps, int64_t M, int64_t N, "
            "cudaStream_t stream);"
        ),
    ]
    assert all(line.startswith("// ") for line in lines[:-2])
    assert "// #ifndef DTYPE_T / #define DTYPE_T __nv_bfloat16 / #endif" in lines
    assert "#define DTYPE_T float" in contract.prototype(make(), "cuda", "cpu").splitlines()


def test_types_without_variables_and_names_that_are_none_have_no_macro():
    task = make(types={"T": "float32", "a b\n#include": "float32"})
    assert contract.prototype(task, "cuda").count("\n#define") == 1
    plain = make(
        types={},
        inputs=(Tensor(name="x", dtype="float8_e5m2", shape=("M", "N")),),
        outputs=(Tensor(name="y", dtype="float16", shape=("M",)),),
        scalars=(),
        workloads=make().workloads[:1],
    )
    lines = contract.prototype(plain, "cuda").splitlines()
    assert lines[-1].startswith('extern "C" int demo(const __nv_fp8_e5m2* x, __half* y, int64_t')
    assert not any("DTYPE" in line or line.startswith("#") for line in lines)


def test_other_languages_have_no_macros():
    assert "DTYPE" not in contract.prototype(make(), "cpp")


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ({"M": "free", "N": "fixed", "K": "L", "L": "K"}, "defined by one another"),
        ({"M": "free", "N": "fixed", "K": "N / 4", "L": "1"}, "not a whole number"),
        ({"M": "free", "N": "fixed", "K": "1", "L": "N - 11"}, "is -1, below zero"),
    ],
)
def test_a_size_that_does_not_exist_is_refused(axes, words):
    with pytest.raises(TaskError, match=words):
        contract.resolve(make(axes=axes), "a")


def test_an_unknown_workload_is_refused():
    with pytest.raises(TaskError, match="no workload 'b'"):
        contract.resolve(make(), "b")


def test_a_smoke_workload_falls_back_on_the_main_one():
    found = contract.workload(make(), "cpu", "smoke")
    assert found is not None
    assert found.name == "a"
    assert contract.workload(make(workloads=make().workloads[:1]), "gpu") is None


def test_scalars_are_rounded_as_a_kernel_gets_them():
    assert contract.scalar_value("float32", 0.1) == 0.10000000149011612
    assert contract.scalar_value("float64", 0.1) == 0.1
    assert contract.scalar_value("bfloat16", 0.1) == 0.10009765625
    assert contract.scalar_value("int32", 3.0) == 3
    assert contract.scalar_value("bool", 2) is True


@given(st.lists(st.text(max_size=80), max_size=6))
def test_any_text_becomes_a_new_identifier(texts):
    taken = {"demo"}
    names = [identifier(text, taken) for text in texts]
    assert len({*names, "demo"}) == len(names) + 1
    for name in names:
        assert re.fullmatch(r"[A-Za-z_]\w*", name, flags=re.ASCII)
        assert not keyword.iskeyword(name)
        assert name not in ("double", "template", "stream")
    assert identifier("fc1.weight", set()) == "fc1_weight"
