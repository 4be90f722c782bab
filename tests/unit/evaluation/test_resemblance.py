"""Results that look like those of other calls are picked, and only those."""

from __future__ import annotations

from kernelwright.evaluation.resemblance import BLOCKS, Resemblance


class Ring:
    """Says what it was given as the piece of a slot."""

    def __init__(self, *pieces):
        self.pieces = pieces

    def piece(self, slot, where):
        assert 0 <= where <= 1
        return self.pieces[slot]


def look(found, *pieces, order=None):
    return found.look(Ring(*pieces), list(range(len(pieces))) if order is None else order)


def test_a_copy_within_a_block_is_picked():
    assert look(Resemblance(0.3), b"ab", b"cd", b"ab") == 2
    assert look(Resemblance(0.3), b"ab", b"cd", b"ab", order=[2, 1, 0]) == 0
    assert look(Resemblance(0.3), b"ab", b"cd", b"ab", order=[2, 1]) is None


def test_a_copy_of_an_earlier_block_is_picked_for_a_while():
    found = Resemblance(0.3)
    assert look(found, b"ab") is None
    assert look(found, b"ab") == 0
    for number in range(BLOCKS):
        assert look(found, bytes([number, 255])) is None
    assert look(found, b"ab") is None


def test_constant_pieces_tell_nothing():
    assert look(Resemblance(0.3), b"\0\0", b"\0\0") is None
