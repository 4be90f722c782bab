"""A place is taken to be used: one without a single block has nothing that could be looked at."""

from kernelwright.timing.protocol import compare
from kernelwright.timing.statistics import Noise

QUIET = Noise(half_width=0.002, pairs=30, between=0.002)


class Counted:
    """A side that counts its blocks."""

    def __init__(self, us):
        self.us, self.blocks = us, 0

    def ready(self):
        pass

    def block(self):
        self.blocks += 1
        return self.us


def blocks_by_place(candidate_us, rival_us, **options):
    candidates = []

    def place():
        candidates.append(Counted(candidate_us))
        return candidates[-1], Counted(rival_us)

    compare(place, looks=(30, 100, 300), noise=QUIET, seed=7, placements=8, **options)
    return [one.blocks for one in candidates]


def test_no_place_is_taken_when_it_is_hopeless():
    assert 0 not in blocks_by_place(100.0, 55.0)


def test_no_place_is_taken_when_time_is_over():
    left = iter([True] * 5)  # until the second place is done
    assert 0 not in blocks_by_place(100.0, 100.0, enough_time=lambda: next(left, False))
