"""A product and its sum with something, rounded once."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from kernelwright.evaluation.oracle.contraction import ContractedArray

X = np.random.default_rng(1).uniform(-0.9, 0.9, 500).astype(np.float32)
Y = np.random.default_rng(2).normal(size=500).astype(np.float32)


def once(exact):
    return exact.astype(np.float32)


def wide(array):
    return array.astype(np.float64)


FORMS = {
    "a sum": (lambda a, b: a * b + 0.3, lambda a, b: once(a * b + np.float64(np.float32(0.3)))),
    "from the right": (lambda a, b: b + a * a, lambda a, b: once(b + a * a)),
    "less something": (lambda a, b: a * b - b, lambda a, b: once(a * b - b)),
    "taken away": (lambda a, b: b - a * 3, lambda a, b: once(b - a * 3)),
    "neither": (lambda a, b: a + b, lambda a, b: once(a + b)),
    "rounded between": (
        lambda a, b: abs(a * b) + b,
        lambda a, b: once(wide(once(abs(a * b))) + b),
    ),
}


def in_place(a, b):
    a = a * 1
    a *= b
    a += b
    return a


FORMS["in place"] = (in_place, lambda a, b: once(a * b + b))


@pytest.mark.parametrize("name", FORMS)
def test_numpy_arrays(name):
    form, expected = FORMS[name]
    found = form(X.view(ContractedArray), Y.view(ContractedArray))
    assert found.dtype == np.float32
    assert np.array_equal(np.asarray(found), expected(wide(X), wide(Y)))


@pytest.mark.skipif(not find_spec("torch"), reason="needs torch")
@pytest.mark.parametrize("name", FORMS)
def test_tensors(name):
    import torch

    from kernelwright.evaluation.oracle.torch_contraction import Contracted

    form, expected = FORMS[name]
    with torch.no_grad(), Contracted(torch.float32):
        found = form(torch.from_numpy(X.copy()), torch.from_numpy(Y.copy()))
    assert np.array_equal(found.numpy(), expected(wide(X), wide(Y)))


def test_what_was_written_over_is_no_product():
    product = X.view(ContractedArray) * Y
    product[3] = 7
    assert np.array_equal(np.asarray(product + Y), np.where(np.arange(500) == 3, 7, X * Y) + Y)


@pytest.mark.parametrize(
    "write",
    [
        lambda product: np.copyto(product, Y),
        lambda product: product.fill(2),
        lambda product: np.negative(product[:9], out=product[:9]),
        lambda product: np.subtract.at(product, [1, 2], 5),
    ],
)
def test_nor_is_what_was_written_otherwise(write):
    product = X.view(ContractedArray) * Y
    write(product)
    assert np.array_equal(np.asarray(product + Y), np.asarray(product) + Y)


def test_a_product_with_what_is_no_array_is_numpys():
    weights = [0.25] * 500
    found = X.view(ContractedArray) * weights + Y
    assert np.allclose(np.asarray(found), X * np.float32(0.25) + Y)


def test_a_float64_keeps_more_bits_than_it_has():
    x = np.random.default_rng(3).normal(size=500).view(ContractedArray)
    assert (np.asarray(x * x - np.asarray(x * x)) != 0).any()
