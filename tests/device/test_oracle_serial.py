"""Arrays that sum in a chosen way: results against plain loops, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from kernelwright.evaluation.arena import numpy_dtype
from kernelwright.evaluation.oracle.contraction import ContractedArray
from kernelwright.evaluation.oracle.serial import NarrowArray, SerialArray

RANDOM = np.random.default_rng(3)
A = RANDOM.standard_normal((5, 700)).astype(np.float32)
B = RANDOM.standard_normal((700, 6)).astype(np.float32)
CUBE = RANDOM.standard_normal((3, 40, 50)).astype(np.float32)


def loop(values):
    total = np.float32(0)
    for value in values:
        total = np.float32(total + value)
    return total


def rows():
    return np.array([loop(row) for row in A], np.float32)


def product():
    return np.array([[loop(A[i] * B[:, j]) for j in range(6)] for i in range(5)], np.float32)


def serial(array):
    return array.view(SerialArray)


@pytest.mark.parametrize(
    "expression",
    [
        lambda a: np.sum(a, axis=1),
        lambda a: a.sum(axis=-1),
        lambda a: np.sum(a, axis=1, keepdims=True)[:, 0],
        lambda a: np.add.reduce(a, axis=1),
        lambda a: np.mean(a, axis=1) * np.float32(700),
        lambda a: np.einsum("ij,j->i", a, np.ones(700, np.float32)),
    ],
)
def test_sums_are_a_loop(expression):
    found = expression(serial(A))
    assert isinstance(found, SerialArray)
    assert found.dtype == np.float32
    assert np.allclose(found, rows(), rtol=2e-7, atol=0)
    assert not np.array_equal(np.asarray(expression(A)), rows())


@pytest.mark.parametrize(
    "expression",
    [
        lambda a, b: a @ b,
        np.matmul,
        np.dot,
        lambda a, b: np.tensordot(a, b, axes=1),
        lambda a, b: np.einsum("ik,kj->ij", a, b),
        lambda a, b: np.einsum("ik,kj->ji", a, b).T,
        lambda a, b: np.inner(a, b.T),
        lambda a, b: np.stack([a @ b[:, j] for j in range(6)], axis=-1),
        lambda a, b: np.stack([np.vecdot(a, b[:, j]) for j in range(6)], axis=-1),
    ],
)
@pytest.mark.parametrize("sides", [(True, True), (True, False), (False, True)])
def test_products_are_a_loop(expression, sides):
    a, b = (serial(x) if on else x for x, on in zip((A, B), sides, strict=True))
    assert np.array_equal(np.asarray(expression(a, b)), product())


@pytest.mark.parametrize(
    ("text", "shapes"),
    [("bij,bjk->bik", ((3, 4, 5), (3, 5, 6))), ("ij,kj->k", ((4, 5), (6, 5))),
     ("bhqd,bhkd->bhqk", ((2, 3, 4, 5), (2, 3, 6, 5))), ("i,j->ij", ((3,), (4,))),
     ("ij->i", ((4, 5),)), ("ii->i", ((4, 4),)), ("i,ij,j->", ((3,), (3, 4), (4,)))],
)  # fmt: skip
def test_einsum_means_what_numpy_means(text, shapes):
    operands = [RANDOM.standard_normal(shape) for shape in shapes]
    found = np.einsum(text, *map(serial, operands))
    assert np.allclose(np.asarray(found), np.einsum(text, *operands))


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (0, 1, 2), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes_and_shapes_are_numpys(axis, keepdims):
    for function in (np.sum, np.prod, np.mean, np.var, np.std):
        with np.errstate(all="ignore"):
            wanted = function(CUBE.astype(float), axis=axis, keepdims=keepdims)
            found = function(serial(CUBE.astype(float)), axis=axis, keepdims=keepdims)
        assert np.shape(found) == np.shape(wanted)
        assert np.allclose(np.asarray(found), wanted)


def test_empty_sums_and_integers_are_numpys():
    assert np.sum(serial(np.zeros((3, 0))), axis=1).tolist() == [0, 0, 0]
    assert (serial(np.zeros((2, 0))) @ serial(np.zeros((0, 3)))).tolist() == [[0] * 3] * 2
    whole = np.arange(6).reshape(2, 3)
    assert int(serial(whole).sum()) == 15
    assert (serial(whole) @ serial(whole.T)).tolist() == (whole @ whole.T).tolist()
    with pytest.raises(ValueError, match="mismatch"):
        serial(A) @ serial(A)


def test_changes_in_place_and_norms():
    array = serial(np.ones(4, np.float32))
    array += 2
    assert array.tolist() == [3, 3, 3, 3]
    assert float(np.linalg.norm(serial(np.array([3.0, 4.0])))) == 5
    assert np.linalg.norm(serial(CUBE), axis=2).shape == (3, 40)


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_narrow_results_are_rounded_and_sums_are_not(name):
    dtype = numpy_dtype(name)
    ones = np.ones((2, 4096), dtype).view(NarrowArray)
    assert np.sum(ones, axis=1).tolist() == [4096, 4096]
    assert (ones @ ones.T).tolist() == [[4096] * 2] * 2
    third = np.full(3, 1, dtype).view(NarrowArray) / 3
    assert third.dtype == dtype
    assert (third * 2.0).dtype == dtype
    assert (third + np.ones(3, np.float32)).dtype == np.float32
    assert (third > 0).dtype == bool
    big = np.full(8192, 100, dtype).view(NarrowArray)  # its sum does not fit into float16
    assert float(np.mean(big)) == 100
    assert np.exp(third).dtype == dtype


@pytest.mark.parametrize("kind", [SerialArray, ContractedArray, NarrowArray])
@pytest.mark.parametrize("derived", [False, True], ids=["plain mask", "mask of its own"])
def test_a_mask_leaves_the_other_elements_alone(kind, derived):
    dtype = np.float16 if kind is NarrowArray else np.float32
    plain = np.array([1, 2, 3, 4], dtype), np.array([2, 0, 4, 0], dtype)
    a, b = (one.view(kind) for one in plain)
    mask = b != 0 if derived else plain[1] != 0
    found = np.divide(a, b, out=np.full_like(a, 7), where=mask)
    assert np.array_equal(np.asarray(found), np.array([0.5, 7, 0.75, 7], dtype))
    assert np.asarray(np.mean(a, where=mask)) == 2


NEW_ARRAYS = {
    "where": lambda x: np.where(x > 0, x, 0),
    "tril": np.tril,
    "pad": lambda x: np.pad(x, 1),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, *x.shape)),
    "concatenate": lambda x: np.concatenate([x, x]),
    "stack": lambda x: np.stack([x, x]),
    "split": lambda x: np.split(x, 2)[0],
    "clip": lambda x: np.clip(x, 0, 1),
    "take_along_axis": lambda x: np.take_along_axis(x, np.argsort(x, axis=-1), axis=-1),
    "einsum of three": lambda x: np.einsum("ij,ij,ij->ij", x, x, x),
}


@pytest.mark.parametrize("kind", [SerialArray, ContractedArray, NarrowArray])
@pytest.mark.parametrize("name", NEW_ARRAYS)
def test_functions_that_make_new_arrays_keep_the_way_of_summing(name, kind):
    dtype = numpy_dtype("float16") if kind is NarrowArray else np.dtype(np.float32)
    x = np.random.default_rng(1).standard_normal((8, 8)).astype(dtype)
    made = NEW_ARRAYS[name](x.view(kind))
    assert type(made) is kind
    assert np.array_equal(made.view(np.ndarray), NEW_ARRAYS[name](x))


def test_a_sum_behind_a_mask_is_a_loop():
    x = np.random.default_rng(2).standard_normal(100_000).astype(np.float32).view(SerialArray)
    masked = np.sum(np.where(x > 0, x, np.float32(0)))
    assert float(masked) == float(np.sum(x * (x > 0)))
    assert float(masked) != float(np.sum(np.where(x > 0, x, 0).view(np.ndarray)))


def test_named_results_keep_their_names():
    found = np.linalg.eigh(np.eye(3, dtype=np.float32).view(SerialArray))
    assert found.eigenvalues.shape == (3,)
