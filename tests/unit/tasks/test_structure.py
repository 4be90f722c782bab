"""What is known to have a structure, in every type."""

import ml_dtypes
import numpy as np
import pytest

from kernelwright.tasks import structure


def narrow(values, dtype):
    return values.astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "float8_e5m2"])
def test_what_is_a_structure_and_what_is_none(dtype):
    random = np.random.default_rng(8)
    plain = random.standard_normal((3, 80, 80))
    mirrored = plain + np.swapaxes(plain, 1, 2)
    exponentials = np.exp(random.standard_normal((90, 70)))
    assert structure.symmetric(narrow(mirrored, dtype))
    assert structure.rigid(narrow(plain - np.swapaxes(plain, 1, 2), dtype))
    assert structure.rigid(narrow(np.sort(plain), dtype))
    assert structure.rigid(narrow(-np.sort(plain), dtype))
    for axis in (0, 1):
        assert structure.rigid(narrow(exponentials / exponentials.sum(axis, keepdims=True), dtype))
    for one in (plain, plain[0, 0], np.abs(plain), exponentials, np.triu(plain), plain[:, :1]):
        found = narrow(one, dtype)
        assert not structure.symmetric(found)
        assert not structure.rigid(found)
        assert not structure.codes(narrow(plain, dtype))
    assert not structure.rigid(narrow(mirrored, dtype))
    assert structure.codes(narrow(np.sign(plain), dtype))


def test_a_lone_row_is_known_by_a_sum_of_one_or_nought():
    row = np.random.default_rng(1).random(5000, dtype=np.float32)
    assert not structure.rigid(row)
    assert structure.rigid(row / row.sum())
    assert structure.rigid(row - row.mean())


def test_symmetry_may_be_off_by_rounding_and_holds_infinities():
    square = np.random.default_rng(1).standard_normal((70, 50), dtype=np.float32)
    product = square @ square.T
    product[:, :3] *= np.float32(1 + 1e-7)
    assert structure.symmetric(product)
    product[0, 1:] = product[1:, 0] = np.inf
    assert structure.symmetric(product)
    assert not structure.symmetric(np.triu(product))


@pytest.mark.parametrize("shape", [(0,), (0, 0), (3, 0), (1,), (1, 1), (2, 1, 1)])
def test_what_holds_next_to_nothing_has_no_structure(shape):
    assert not structure.symmetric(np.full(shape, 0.3, np.float32))
    assert not structure.rigid(np.full(shape, 0.3, np.float32))


def test_zeros_are_compared_by_place():
    random = np.random.default_rng(1)
    one, other = random.random((2, 90, 90))
    assert structure.same_zeros(np.tril(one), np.tril(other))
    assert not structure.same_zeros(np.tril(one), np.triu(other))
    assert not structure.same_zeros(one * (one < 0.9), other * (other < 0.9))
