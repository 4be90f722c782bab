"""A task on which nothing can be scored: what a person is told, by each command."""

from tests.e2e.conftest import GOOD, TASK

DEAD = "def poly(xp, x):\n    return 2 + 0.5 * xp.tanh(x / 1e9)\n"


def test_a_task_that_cannot_tell_is_refused_everywhere(folder):
    folder.write("dead/task.toml", TASK)
    folder.write("dead/reference.py", DEAD)
    folder.write("dead.cpp", GOOD)
    code, said = folder.json("tasks", "check", "dead")
    assert code == 3
    assert "cannot be scored" in said["sensitivity"]["reason"]
    code, said = folder.json("evaluate", "dead", "dead.cpp")
    assert (code, said["outcome"]) == (3, "insensitive_task"), said
    assert said["evidence"]["hint"]
    code, said = folder.json("optimize", "dead", "--start", "dead.cpp", "--evaluations", "2")
    assert code == 2
    assert "cannot be scored" in said["error"]
    assert said["hint"]


def test_a_living_one_says_how_exact_it_is(folder):
    code, said = folder.json("evaluate", "poly", "good.cpp", "--rung", "smoke")
    assert code == 0, said
    assert said["policy"]["tolerance"] == {"k": 4.0, "ulps": 2.0}
    assert said["evidence"]["nearest_to_limit"]["share"] <= 1
