import gc
import mmap
import os

import numpy as np
import pytest

from kernelwright.evaluation.arena import PAGE, Arena, numpy_dtype, plan
from kernelwright.evaluation.ring import Ring
from kernelwright.evaluation.ring_inputs import Inputs
from kernelwright.records.outcome import Outcome
from kernelwright.records.task import DTYPES, Case, Scalar, Shaped


def case(shape=(5, 7), dtype="float32", **options):
    return Case(
        workload="w",
        device="cpu",
        inputs=(Shaped(name="x", shape=shape, dtype=dtype, **options),),
        outputs=(Shaped(name="y", shape=shape, dtype=dtype),),
        scalars=(Scalar(name="eps", dtype="float32", value=1e-5),),
        axes={"M": shape[0], "N": shape[1]},
    )


def contents(found):
    (item,) = found.inputs
    values = np.random.default_rng(1).standard_normal(item.shape)
    return {"x": values.astype(numpy_dtype(item.dtype))}


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_survives_an_arena(dtype):
    layout = plan([Shaped(name="x", shape=(3, 4), dtype=dtype)])
    arena = Arena.create(layout.nbytes)
    values = np.arange(12).reshape(3, 4).astype(numpy_dtype(dtype))
    arena.view(layout.tensors[0])[...] = values
    assert (arena.view(layout.tensors[0]) == values).all()


def test_a_strided_tensor_leaves_its_gaps_alone():
    layout = plan([Shaped(name="x", shape=(3, 4), dtype="float32", strides=(10, 2))])
    (place,) = layout.tensors
    arena = Arena.create(layout.nbytes)
    arena.view(place)[...] = 7
    raw = arena.bytes[place.offset : place.offset + place.nbytes].view(np.float32)
    assert place.nbytes == 4 * (2 * 10 + 3 * 2 + 1)
    assert int((raw == 7).sum()) == 12


def test_an_alignment_of_four_is_four_and_no_more():
    layout = plan([Shaped(name="x", shape=(8,), dtype="float32")], alignment=4)
    assert layout.tensors[0].offset % 64 == 4


def test_a_sealed_arena_cannot_be_mapped_for_writing():
    arena = Arena.create(8192, sealed=True)
    arena.bytes[:] = 3
    with pytest.raises(PermissionError):
        mmap.mmap(arena.descriptor, 8192)
    assert mmap.mmap(arena.descriptor, 8192, prot=mmap.PROT_READ)[0] == 3


def test_writing_beside_an_output_is_noticed():
    ring = Ring.private(case())
    ring.inputs.fill(contents(ring.case))
    ring.poison(0, 0xFF)
    assert ring.trespass(0) is None
    place = ring.outputs.layouts[0].tensors[0]
    ring.outputs.arena.bytes[place.offset + place.nbytes] ^= 1
    found = ring.trespass(0)
    assert found is not None
    assert found.outcome is Outcome.OUT_OF_BOUNDS


def test_changing_an_input_is_noticed_even_when_nan_replaces_nan():
    ring = Ring.private(case())
    values = contents(ring.case)
    values["x"][0, 0] = np.nan
    ring.inputs.fill(values)
    assert ring.trespass(0) is None
    ring.inputs.sets.view(0, "x").view(np.uint32)[0, 0] = 0x7FC00001
    found = ring.trespass(0)
    assert found is not None
    assert found.outcome is Outcome.INPUT_MUTATED


def test_both_sides_read_the_same_fresh_contents_and_no_block_repeats():
    read = Inputs(case((64, 600)), 2, sealed=True)
    mine, other = Ring(read), Ring(read)
    base = contents(read.case)
    read.fill(base)
    seen = []
    for block in range(3):
        for ring in (mine, other):
            ring.inputs.freshen(block, base, secret=9)
            seen.append([ring.inputs.contents(slot)["x"].copy() for slot in range(2)])
    for first, second in zip(seen[::2], seen[1::2], strict=True):
        assert all((a == b).all() for a, b in zip(first, second, strict=True))
    states = {a.tobytes() for blocks in seen[::2] for a in blocks}
    assert len(states) == 6
    rows_changed = (seen[0][0] != base["x"]).any(axis=1)
    assert rows_changed.mean() > 0.9


def test_arguments_follow_the_contract():
    ring = Ring.private(case())
    kinds = [item["t"] for item in ring.arguments()[0]]
    assert kinds == ["tensor", "tensor", "scalar", "axis", "axis"]


@pytest.mark.parametrize("alignment", [64, 256, 4])
@pytest.mark.parametrize("shape", [(5, 7), (64, 64), (1, 1), (0, 3)])
def test_a_fenced_tensor_ends_before_its_fence_and_keeps_its_alignment(shape, alignment):
    layout = plan(
        [Shaped(name=name, shape=shape, dtype="float32") for name in "ab"],
        0,
        alignment,
        fenced=True,
    )
    for place, fence in zip(layout.tensors, layout.fences, strict=True):
        assert fence % PAGE == 0
        room = fence - (place.offset + place.nbytes)
        assert 0 <= room < max(alignment, 8) or (
            not place.nbytes and room <= max(alignment, 64) + 4
        )
        assert place.offset % alignment == 0
        if alignment < 64:
            assert place.offset % 64
    assert layout.tensors[1].offset >= layout.fences[0] + PAGE
    assert layout.nbytes >= layout.fences[-1] + PAGE


def test_what_lies_beside_an_input_is_other_bytes_for_new_contents_nan_among_them():
    read = Inputs(case(), 1, sealed=True)
    base = contents(read.case)
    place = read.sets.layouts[0].tensors[0]
    seen = []
    for block in range(6):
        if block < 3:
            read.fill(base)
        else:
            read.freshen(block, base, secret=5)
        end = place.offset + place.nbytes
        end += -end % 64
        seen.append(read.sets.arena.bytes[end : end + 4096].copy().view(np.float32))
    assert len({one.tobytes() for one in seen}) == 6
    assert all(np.isnan(one).sum() > 50 for one in seen)
    assert all(np.isfinite(one).sum() > 50 for one in seen)


def test_what_lies_between_the_elements_of_an_input_is_not_nought():
    ring = Ring.private(case(strides=(20, 2)))
    ring.inputs.fill(contents(ring.case))
    gaps = ring.inputs.sets.gaps(ring.inputs.sets.place(0, "x"))
    assert (gaps != 0).mean() > 0.9
    assert ring.trespass(0) is None


def test_a_piece_of_poison_makes_an_output_suspect():
    ring = Ring.private(case((64, 64)))
    ring.poison(0, 0x5A)
    assert ring.seems_untouched(0, 0.3)
    ring.output(0, "y")[...] = 0
    assert not ring.seems_untouched(0, 0.3)
    ring.output(0, "y").view(np.uint8)[32:] = 0x5A
    assert ring.seems_untouched(0, 0.9)
    assert not ring.seems_untouched(0, 0.1)


def test_memory_that_cannot_be_mapped_is_given_back_once(monkeypatch):
    gc.collect()  # what other tests left
    closed = []
    close = os.close
    monkeypatch.setattr(os, "close", lambda fd: (closed.append(fd), close(fd)))
    monkeypatch.setattr(mmap, "mmap", lambda *_, **__: (_ for _ in ()).throw(OSError("no room")))
    with pytest.raises(OSError, match="no room"):
        Arena.create(4096)
    gc.collect()
    assert len(closed) == len(set(closed)) == 1
