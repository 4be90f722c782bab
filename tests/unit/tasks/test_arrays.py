"""The two functions that the array API lacks, against plain loops and known values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from kernelwright.tasks.arrays import conv, namespace


def slow_conv(x, w, stride, padding, dilation, groups):
    pads = [(0, 0), (0, 0)] + [(padding, padding)] * (x.ndim - 2)
    x = np.pad(x, pads)
    size = [
        (n - (k - 1) * dilation - 1) // stride + 1
        for n, k in zip(x.shape[2:], w.shape[2:], strict=True)
    ]
    y = np.zeros((x.shape[0], w.shape[0], *size))
    per_in, per_out = w.shape[1], w.shape[0] // groups
    for n, o in itertools.product(range(x.shape[0]), range(w.shape[0])):
        first = o // per_out * per_in
        for place in itertools.product(*map(range, size)):
            for tap in itertools.product(*map(range, w.shape[2:])):
                at = tuple(p * stride + t * dilation for p, t in zip(place, tap, strict=True))
                for c in range(per_in):
                    y[(n, o, *place)] += x[(n, first + c, *at)] * w[(o, c, *tap)]
    return y


@pytest.mark.parametrize(
    ("shape", "taps", "stride", "padding", "dilation", "groups"),
    [
        ((2, 4, 9), (6, 2, 3), 2, 1, 1, 2),
        ((1, 3, 5, 6), (2, 3, 3, 2), 1, 0, 1, 1),
        ((2, 4, 7, 5), (4, 1, 3, 3), 2, 2, 2, 4),
        ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), 1, 1, 1, 1),
    ],
)
def test_conv_equals_its_definition(shape, taps, stride, padding, dilation, groups):
    random = np.random.default_rng(0)
    x, w = random.standard_normal(shape), random.standard_normal(taps)
    got = conv(x, w, stride=stride, padding=padding, dilation=dilation, groups=groups)
    wanted = slow_conv(x, w, stride, padding, dilation, groups)
    assert got.shape == wanted.shape
    assert np.allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_conv_of_nothing_is_nothing():
    w = np.ones((2, 2, 3, 3))
    assert conv(np.ones((0, 2, 5, 5)), w, padding=1).shape == (0, 2, 5, 5)
    assert conv(np.ones((1, 2, 5, 0)), w, padding=1).shape == (1, 2, 5, 0)


def test_conv_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="in 2 groups"):
        conv(np.ones((1, 4, 5)), np.ones((2, 4, 3)), groups=2)
    with pytest.raises(ValueError, match="does not fit"):
        conv(np.ones((1, 1, 2)), np.ones((1, 1, 4)))


def test_the_namespace_is_the_standard_and_two_more():
    xp = namespace()
    assert math.isclose(float(xp.erf(xp.asarray(0.5))), math.erf(0.5))
    assert xp.concat([xp.ones(2), xp.zeros(1)]).tolist() == [1, 1, 0]
    assert xp.conv is conv
    other = namespace(extras={"erf": "mine"})
    assert other.erf == "mine"
    assert not hasattr(other, "conv")
