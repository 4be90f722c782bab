"""Experts, start and tune: what they propose, in which order, and when they stop."""

import math
import random
import tomllib
from importlib.resources import files

import pytest

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.candidates.tunables import space
from kernelwright.errors import UsageError
from kernelwright.proposers.base import Context, context_for, main_workload
from kernelwright.proposers.experts import defaults
from kernelwright.proposers.start import Start
from kernelwright.proposers.tune import Tune
from kernelwright.records.evaluation import Evaluation
from kernelwright.records.outcome import Outcome
from kernelwright.records.run import RunSpec
from kernelwright.records.rung import Rung
from kernelwright.records.task import Reference, Task
from kernelwright.testing.proposers import ProposerContract
from kernelwright.testing.simulated import made_up_candidates, made_up_task


def softmax():
    folder = files("kernelwright") / "suites" / "core" / "softmax"
    table = tomllib.loads((folder / "task.toml").read_text())
    return Task(**table, reference=Reference(kind="array", entry="softmax", source=""))


def context(task=None, scores=None, seed=0, start=(), **values):
    """A context whose scores come from a table of candidate ids."""
    table = scores if scores is not None else {}
    return Context(task or made_up_task(), ("cpp",), seed, {"N": 1 << 20, "cores": 2} | values,
                   lambda look: table.get(look.candidate) if look.passed else None,
                   tuple(start))  # fmt: skip


def passed(candidate, rung=Rung.SCREEN):
    return Evaluation(candidate=candidate.id, rung=rung, outcome=Outcome.PASSED)


class TestStartContract(ProposerContract):
    def make(self, context):
        return Start(context)


def test_experts_are_every_structure_once_at_valid_numbers():
    given = context(softmax(), M=1024, N=4096)
    proposed = list(defaults(given))
    names = sorted(
        file.name for file in (files("kernelwright") / "experts" / "softmax" / "cpp").iterdir()
        if file.name.endswith(".cpp")
    )  # fmt: skip
    assert [one.origin.rpartition("/")[2] for one in proposed] == names
    assert len({one.source for one in proposed}) == len(proposed) >= 4
    assert all(one.author == "experts" for one in proposed)
    assert all(one.tunables == space(one.header, given.values).default() for one in proposed)


@pytest.mark.parametrize("op", ["", "no_such_operation", "../softmax", "softmax/cpp"])
def test_an_operation_without_experts_has_none(op):
    task = softmax().model_copy(update={"op": op})
    assert list(defaults(context(task, M=8, N=8))) == []


def test_an_expert_without_a_valid_point_is_left_out(tmp_path):
    folder = tmp_path / "softmax" / "cpp"
    folder.mkdir(parents=True)
    header = '// /// kernelwright\n// tune.A = [1, 2]\n// where = ["{rule}"]\n// ///\nint x;\n'
    (folder / "never.cpp").write_text(header.format(rule="A > 2 * M"))
    (folder / "later.cpp").write_text(header.format(rule="A > 1"))
    (folder / "notes.txt").write_text("not a kernel")
    found = list(defaults(context(softmax(), M=1), root=tmp_path))
    assert [(one.origin, one.tunables) for one in found] == [
        ("experts/softmax/cpp/later.cpp", {"A": 2})
    ]


def test_a_small_space_is_exhausted_exactly():
    one = made_up_candidates(1)[0]
    given = context()
    tune = Tune(given)
    tune.tell(one, passed(one, Rung.DRAFT))
    proposed = []
    while (found := tune.ask([one])) is not None:
        proposed.append(tuple(found.tunables.values()))
    everything = {tuple(point.values()) for point in space(one.header, given.values).points()}
    assert len(everything) == 18
    assert sorted(proposed) == sorted(everything - {tuple(one.tunables.values())})


def test_a_large_space_is_walked_without_listing_it():
    listed = ", ".join(str(number) for number in range(10))
    source = "// /// kernelwright\n" + "".join(
        f"// tune.P{at} = [{listed}]\n" for at in range(8)
    ) + '// where = ["P0 + P1 + P2 <= 6", "P3 != P4"]\n// ///\nint x;\n'  # fmt: skip
    one = make_candidate(source, "cpp", {f"P{at}": int(at == 3) for at in range(8)})
    tune, seen = Tune(context()), set()
    for _ in range(40):
        found = tune.ask([one])
        assert space(one.header, {}).is_valid(found.tunables)
        seen.add(found.id)
        tune.tell(found, passed(found))
    assert len(seen) == 40


def best_after(asked, seed, *, informed):
    one, scores = big_one(), {}
    tune, best = Tune(context(scores=scores, seed=seed)), -math.inf
    for _ in range(asked):
        found = tune.ask([one])
        value = big_surface(found)
        best = max(best, value)
        scores[found.id] = value if informed else 0.0
        tune.tell(found, passed(found))
    return best


def big_one():
    source = "// /// kernelwright\n" + "".join(
        f"// tune.P{at} = [{', '.join(map(str, range(12)))}]\n" for at in range(3)
    ) + "// ///\nint x;\n"  # fmt: skip
    return make_candidate(source, "cpp", {f"P{at}": 0 for at in range(3)})


def big_surface(candidate):
    return -sum((candidate.tunables[f"P{at}"] - 7) ** 2 for at in range(3))


def test_what_was_told_guides_what_is_asked():
    informed = sorted(best_after(40, seed, informed=True) for seed in range(9))
    blind = sorted(best_after(40, seed, informed=False) for seed in range(9))
    assert informed[4] > blind[4]


def test_failures_are_avoided():
    """Half of the space fails; an informed tuner asks there less than blindly."""
    one, scores = big_one(), {}
    tune = Tune(context(scores=scores, seed=2))
    failing = 0
    for at in range(60):
        found = tune.ask([one])
        bad = found.tunables["P0"] >= 6
        failing += bad and at >= 20
        scores[found.id] = random.Random(at).gauss(0, 0.1)
        outcome = Outcome.CRASHED if bad else Outcome.PASSED
        tune.tell(found, Evaluation(candidate=found.id, rung=Rung.SMOKE, outcome=outcome))
    assert failing < 0.35 * 40


def test_the_next_parent_is_taken_when_the_first_is_exhausted():
    plain = make_candidate("int x;", "cpp", {})
    other = made_up_candidates(1)[0]
    found = Tune(context()).ask([plain, other])
    assert found.parents == (other.id,)
    assert Tune(context()).ask([plain]) is None
    assert Tune(context()).ask([]) is None


def test_foreign_numbers_in_a_users_file_teach_nothing_and_break_nothing():
    one = made_up_candidates(1)[0]
    foreign = one.model_copy(update={"tunables": {"BLOCK": 7, "UNROLL": 1}})
    tune = Tune(context())
    tune.tell(foreign, passed(foreign))
    assert tune.ask([one]) is not None


def test_words_and_booleans_are_choices_too():
    source = '// /// kernelwright\n// tune.A = ["x", "y"]\n// tune.B = [true, false]\n// ///\n'
    one = make_candidate(source, "cpp", {"A": "x", "B": True})
    tune, seen = Tune(context()), set()
    while (found := tune.ask([one])) is not None:
        seen.add((found.tunables["A"], found.tunables["B"]))
    assert seen == {("x", True), ("x", False), ("y", True), ("y", False)}


def test_constraints_see_derived_axes_of_the_main_workload():
    task = made_up_task().model_copy(update={"axes": {"N": "free", "H": "N // 2", "Q": "H // 2"}})
    spec = RunSpec(task="", device="cpu", threads=3)
    values = context_for(task, spec, lambda look: None).values
    assert values == {"N": 1 << 20, "H": 1 << 19, "Q": 1 << 18, "cores": 3}


def test_a_device_without_a_workload_is_refused():
    with pytest.raises(UsageError, match="no workload for cuda:0"):
        main_workload(made_up_task(), "cuda:0")
    assert main_workload(made_up_task(), "cpu").name == "large"
