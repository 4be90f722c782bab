"""The trusted worker of the baselines, spoken to as the verifier does."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from kernelwright.evaluation import report
from kernelwright.evaluation.arena import Arena, numpy_dtype, plan
from kernelwright.evaluation.channel import GO, Channel
from kernelwright.evaluation.guarded import Guarded
from kernelwright.evaluation.oracle_client import Oracle
from kernelwright.tasks import contract
from kernelwright.tasks.load import load_task

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernelbench"
POISON = 0xFF
needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="needs torch")


@pytest.fixture(scope="module")
def oracle():
    with Oracle() as started:
        yield started


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    home = str(tmp_path_factory.mktemp("rival"))
    ours, theirs = Channel.pair()
    environment = {
        "PATH": os.environ["PATH"],
        "OMP_NUM_THREADS": "1",
        "HOME": home,
        "TMPDIR": home,
        "TORCHINDUCTOR_CACHE_DIR": home,
    }
    process = Guarded("kernelwright.evaluation.oracle.rival", theirs.fileno(), environment)
    theirs.close()
    yield ours
    ours.close()
    assert process.wait(10) == 0
    process.kill()


def ask(channel, message, *fds):
    return channel.ask(message, 170, fds)


class Ring:
    """Two argument sets and the right answers; inputs may only be read by the worker."""

    def __init__(self, oracle, task, workload=None):
        self.task = task
        oracle.load(task)
        chosen = workload or contract.workload(task, "cpu", "smoke").name
        self.case = case = contract.resolve(task, chosen)
        self.arenas, self.layouts = {}, {}
        for name, tensors in (("inputs", case.inputs), ("outputs", case.outputs)):
            first = plan(tensors)
            self.layouts[name] = [first, plan(tensors, first.nbytes)]
            self.arenas[name] = Arena.create(self.layouts[name][1].nbytes)
        self.truths, self.slots = [], []
        for slot in (0, 1):
            views = {p.name: self.arenas["inputs"].view(p) for p in self.places("inputs", slot)}
            oracle.generate(slot, case, views)
            self.truths.append(oracle.truth(case, views, ("truth",))["truth"])
            self.slots.append([self.wire(one, slot) for one in contract.arguments(case)])

    def places(self, arena, slot):
        return self.layouts[arena][slot].tensors

    def wire(self, item, slot):
        if item.kind == "tensor":
            arena = f"{item.role}s"
            (place,) = [one for one in self.places(arena, slot) if one.name == item.name]
            where = {"arena": arena, "place": place.to_json(), "role": item.role}
            return {"t": "tensor", **where}
        if item.kind == "scalar":
            return {"t": "scalar", "dtype": item.dtype, "value": item.value}
        return {"t": "axis", "value": item.value}

    def open(self, worker):
        for name, arena in self.arenas.items():
            message = {"do": "open", "arena": name, "nbytes": arena.nbytes}
            message["writable"] = name == "outputs"
            assert ask(worker, message, arena.descriptor) == {"ok": True}

    def poison(self):
        for slot in (0, 1):
            for place in self.places("outputs", slot):
                self.arenas["outputs"].bytes[place.offset : place.offset + place.nbytes] = POISON

    def right(self, slot):
        return all(
            np.allclose(
                self.arenas["outputs"].view(place).astype(float),
                self.truths[slot][place.name],
                rtol=1e-4,
                atol=1e-5,
            )
            for place in self.places("outputs", slot)
        )


def bind(worker, ring, baseline):
    ring.open(worker)
    task = ring.task.model_dump(mode="json")
    loaded = ask(worker, {"do": "load", "task": task, "baseline": baseline})
    return loaded if "error" in loaded else ask(worker, {"do": "bind", "slots": ring.slots})


def run(worker, slots):
    """Arm, give the word, and read the report, or why there is none."""
    token = bytes(range(1, 9))
    assert ask(worker, {"do": "run", "slots": slots, "token": token.hex()}) == {"armed": True}
    worker.raw(GO)
    read = report.parse(worker.report(report.size(len(slots)), 60), token, len(slots))
    return {"ns": read[0], "codes": read[1]} if read else worker.message(60)


def play(worker, ring, baseline):
    assert bind(worker, ring, baseline) == {"ok": True}
    ring.poison()
    run(worker, [1])
    assert ring.right(1)
    assert not ring.right(0)
    ran = run(worker, [0, 1, 0])
    assert ring.right(0)
    assert ran["codes"] == [0, 0, 0]
    assert all(type(one) is int and one > 0 for one in ran["ns"])
    assert len(ran["ns"]) == 3


@pytest.mark.parametrize("name", ["layernorm", "attention", "cross_entropy", "group_conv"])
def test_numpy_runs_the_reference(oracle, worker, name):
    play(worker, Ring(oracle, load_task(name, inspector=oracle.inspect)), "numpy")


@needs_torch
@pytest.mark.parametrize(
    ("name", "baseline"),
    [
        ("layernorm", "eager"),
        ("layernorm", "fused"),
        ("layernorm", "compile"),
        ("attention", "eager"),
        ("attention", "compile"),
        ("cross_entropy", "fused"),
        ("group_conv", "eager"),
    ],
)
def test_torch_runs_the_reference(oracle, worker, name, baseline):
    play(worker, Ring(oracle, load_task(name, inspector=oracle.inspect)), baseline)


@needs_torch
@pytest.mark.parametrize(
    ("stem", "baseline"),
    [
        ("conv_norm", "eager"),
        ("two_layers", "eager"),
        ("two_layers", "compile"),
        ("row_extremes", "eager"),
        ("pooled_scale", "compile"),
    ],
)
def test_torch_runs_foreign_models_on_the_slots_parameters(oracle, worker, stem, baseline):
    task = load_task(EXAMPLES / f"{stem}.py", inspector=oracle.inspect)
    play(worker, Ring(oracle, task), baseline)


@needs_torch
def test_compiled_code_is_compiled_again_for_other_shapes(oracle, worker):
    task = load_task("softmax", inspector=oracle.inspect)
    ring = Ring(oracle, task)
    play(worker, ring, "compile")
    case = contract.resolve(task, "cpu-256x16384")
    assert case.axes != ring.case.axes
    other = Ring(oracle, task, "cpu-256x16384")
    other.open(worker)
    assert ask(worker, {"do": "bind", "slots": other.slots}) == {"ok": True}
    other.poison()
    run(worker, [0, 1])
    assert other.right(0)
    assert other.right(1)


def test_what_cannot_be_had_is_named(oracle, worker):
    ring = Ring(oracle, load_task("swiglu", inspector=oracle.inspect))
    fused = bind(worker, ring, "fused")
    assert fused["kind"] == ("unavailable" if find_spec("torch") else "missing_torch")
    assert bind(worker, ring, "blas")["kind"] == "unavailable"
    assert ask(worker, {"do": "dance"})["kind"] == "protocol"
    narrow = Ring(oracle, load_task("softmax", inspector=oracle.inspect), "gpu-7x1031")
    assert numpy_dtype("bfloat16") == narrow.case.inputs[0].dtype
    assert "no fast bfloat16" in bind(worker, narrow, "numpy")["error"]


def test_a_failing_reference_is_an_answer(oracle, worker, tmp_path):
    ring = Ring(oracle, load_task("softmax", inspector=oracle.inspect))
    broken = ring.task.reference.model_copy(
        update={"source": "def softmax(xp, x):\n    raise OSError('disk')\n"}
    )
    ring.task = ring.task.model_copy(update={"reference": broken})
    answer = bind(worker, ring, "numpy")
    assert answer["kind"] == "raises"
    assert "OSError" in answer["error"]


@needs_torch
def test_a_reference_that_writes_into_its_inputs_is_refused(oracle, worker):
    task = load_task(EXAMPLES / "two_layers.py", inspector=oracle.inspect)
    writes = task.reference.source.replace("torch.relu(self.fc1(x))", "self.fc1(x.add_(1))")
    reference = task.reference.model_copy(update={"source": writes})
    ring = Ring(oracle, task)
    ring.task = task.model_copy(update={"reference": reference})
    assert "writes into its input 'x'" in bind(worker, ring, "eager")["error"]
