"""A number is measured anew, repeated from its source, and two kernels are timed, all for real."""

import pytest


@pytest.fixture(scope="module")
def run(folder):
    """A run that wins: compiled loops against numpy."""
    code, found = folder.json(
        "optimize", "poly", "--start", "good.cpp", "--proposer", "tune", "--effort", "quick",
        "--evaluations", 8,
    )  # fmt: skip
    assert code in (0, 3), found
    return found


@pytest.fixture(scope="module")
def confirmed(folder, run):
    code, found = folder.json("confirm", run["run"])
    assert code in (0, 3), found
    return found


def test_a_confirm_gives_the_run_another_number(folder, run, confirmed):
    assert confirmed["counts"]["by_rung"]["confirm"] == run["counts"]["by_rung"]["confirm"] + 1
    machine = confirmed["circumstances"]["confirm"]["machine"]
    assert machine["seconds"] > 0
    assert machine["others_before"] is not None
    code, replayed = folder.json("runs", "replay", run["run"])
    assert (code, replayed["first_difference"]) == (0, "")
    code, shown = folder.json("runs", "show", run["run"])
    assert shown == confirmed


def test_an_audit_sets_then_beside_now(folder, confirmed):
    if not confirmed["circumstances"]["confirm"]:
        pytest.skip("nothing was confirmed on this machine")
    code, found = folder.json("audit", confirmed["run"])
    assert (code == 0) == (found["verdict"] == "holds"), found
    assert (found["verdict"] == "holds") == (not found["differences"])
    assert found["genuine"]
    assert found["build"]["same_binary"]
    assert found["replay"]["matches"]
    assert found["changed"] == {}
    assert found["remembered"]
    for one in found["comparisons"]:
        assert one["stored"] or one["fresh"]
    code, shown = folder.json("runs", "show", confirmed["run"])
    (told,) = shown["best"].pop("audits")
    assert told["verdict"] == found["verdict"]
    assert shown["best"] == {k: v for k, v in confirmed["best"].items() if k != "audits"}


def test_two_kernels_meet(folder):
    text = (folder.path / "good.cpp").read_text()
    loop = text[text.index("#pragma") : text.index("  return 0;")]
    again = f'for (int k = 0; k < 9; ++k) {{\n{loop}asm volatile("" ::: "memory");\n}}\n'
    folder.write("again.cpp", text.replace(loop, again))
    code, found = folder.json(
        "compare", "good.cpp", "again.cpp", "--task", "poly", "--rung", "full"
    )
    assert (found["a"]["outcome"], found["b"]["outcome"]) == ("passed", "passed"), found
    assert found["overall"]["ratio"] < 1
    assert (code, found["overall"]["decision"]) == (3, "slower")
    (row,) = found["comparisons"]
    assert row["workload"] == "small"
    assert row["low"] <= row["ratio"] <= row["high"]


def test_one_that_is_wrong_meets_nobody(folder):
    text = (folder.path / "good.cpp").read_text()
    folder.write("wrong.cpp", text.replace("0.25f", "0.35f"))
    code, found = folder.json("compare", "wrong.cpp", "good.cpp", "--task", "poly")
    assert (code, found["a"]["outcome"], found["b"]["outcome"]) == (3, "wrong_values", "passed")
    assert found["overall"] is None
