"""References that name float32 compute the truth in float64, and get their own names back."""

from types import ModuleType

import numpy as np
import pytest

from kernelwright.evaluation.oracle.widening import widened

NAMED = """
import numpy as np
from numpy import float32
import numpy

NARROW = np.dtype(np.float16)

def summed(x):
    out = np.zeros((), np.float32)
    for one in x:
        out = out + np.float32(one)
    return {cast}
"""


def reference(cast):
    module = ModuleType("reference")
    exec(NAMED.format(cast=cast), vars(module))
    return module


@pytest.mark.parametrize(
    "cast", ["out", "out.astype(float32)", "numpy.asarray(out, NARROW)", "np.single(out)"]
)
def test_the_truth_is_a_float64_sum(cast):
    module, x = reference(cast), np.random.default_rng(0).random(1000)
    before = dict(vars(module))
    with widened(module):
        found = module.summed(x)
    assert found.dtype == np.float64
    assert found == pytest.approx(x.sum(), rel=1e-14)
    assert vars(module) == before
    assert module.summed(x).dtype != np.float64


def test_names_come_back_when_the_reference_raises():
    module = reference("1 / 0")
    with pytest.raises(ZeroDivisionError), widened(module):
        module.summed([1.0])
    assert module.float32 is np.float32
    assert module.np is np
