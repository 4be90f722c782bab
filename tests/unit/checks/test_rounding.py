import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernelwright.checks.rounding import BITS, furthest, lower_bits, rounded

TYPES = {
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
}


@pytest.mark.parametrize("name", TYPES)
def test_within_the_range_it_is_what_the_type_does(name):
    values = np.random.default_rng(0).standard_normal(5000) * 3
    values = values[np.abs(values) > 1e-3]
    wanted = values.astype(TYPES[name]).astype(np.float64)
    assert np.array_equal(rounded(values, BITS[name]), wanted)


def test_the_range_is_kept_and_so_is_what_is_not_finite():
    values = np.array([1e38, -1e-40, np.inf, -np.inf, np.nan, 0.0])
    found = rounded(values, BITS["float16"])
    assert np.allclose(found[:2], values[:2], rtol=2**-11)
    assert np.array_equal(found[2:], values[2:], equal_nan=True)
    assert rounded(values.astype(np.float32), 7).dtype == np.float32


@given(st.floats(1e-30, 1e30), st.sampled_from([3, 7, 10, 23]))
def test_nothing_is_rounded_further_than_the_furthest(value, bits):
    values = np.array([value, -value])
    far = np.abs(furthest(values, bits) - values)
    assert (np.abs(rounded(values, bits) - values) <= far * (1 + 1e-12)).all()
    assert (far <= np.abs(values) * 2.0 ** -(bits + 1)).all()


def test_the_type_below():
    assert lower_bits("float64", ()) == 23
    assert lower_bits("float32", ()) == 10
    assert lower_bits("float32", ("tf32",)) == 7
    assert lower_bits("float32", ("tf32", "bfloat16")) == 3
    assert lower_bits("bfloat16", ()) == lower_bits("float16", ()) == 3
    assert lower_bits("float8_e4m3fn", ()) is None
    assert lower_bits("int64", ("tf32",)) is None
