"""The winner as one source file."""

import dataclasses

import pytest

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.candidates.header import parse
from kernelwright.errors import UsageError
from kernelwright.records.conditions import Conditions
from kernelwright.records.evaluation import Build
from kernelwright.ship import file
from tests import samples


def shipped():
    files = file.export(samples.summary())
    assert list(files) == ["twice.cpp"]
    return files["twice.cpp"]


def test_evidence_on_top():
    top = shipped().partition("// ///")[0]
    assert "// twice: Every element doubled" in top
    assert "run r-20260101-abcd of 2026-01-01, candidate" in top
    assert "2.00x [1.96, 2.04] against numpy on cpu-4096 (FASTER, margin 1%)" in top
    assert "3.50x [3.43, 3.57] against loop on cpu-4096 (FASTER, margin 1%)" in top
    assert "Measured on cpu: Test 9000, 2 threads" in top
    assert "Compiler: g++ (Debian 12.2.0) 12.2.0" in top
    assert "Build: g++ -O3 -fopenmp -shared -fPIC -o libtwice.so twice.cpp" in top


def test_the_command_that_builds_it_is_that_of_its_compiler():
    found = samples.evaluation(samples.candidate())
    flags = ("-std=c++17", "-O3", "-gencode=arch=compute_90a,code=sm_90a", "-Xcompiler=-fPIC")
    build = Build(seconds=1, compiler="nvcc 13.0.88 with g++ 12", flags=flags)
    command = file.build_command(found.model_copy(update={"build": build}), "twice.cu")
    assert command == f"nvcc {' '.join(flags)} -shared -o libtwice.so twice.cu"


@pytest.mark.parametrize(
    ("others", "line"),
    [
        (None, "// Whether the machine was busy meanwhile is not known"),
        (0.1, "// The machine was quiet meanwhile"),
        (1.5, "// Busy meanwhile: other processes used 1.5 cores"),
    ],
)
def test_circumstances_on_top(others, line):
    seen = Conditions(seconds=9, load_before=0, load_after=0, others=others, steal=0)
    change = {
        "conditions": seen if others is not None else None,
        "evidence": {"missing_baselines": {"eager": "torch\nis missing"}},
    }
    found = samples.evaluation(samples.candidate()).model_copy(update=change)
    top = file.export(samples.summary(found=found))["twice.cpp"].partition("// ///")[0]
    assert line in top.splitlines()
    assert "// Not compared with eager: torch is missing" in top.splitlines()


def test_numbers_are_fixed_and_nothing_is_left_to_tune():
    header = parse(shipped(), "cpp")
    assert header.tune == {}
    assert header.strategy == "plain loop"
    assert header.flags == ("-ffast-math",)
    assert "#define THREADS 2\n" in shipped()
    assert "tune.THREADS" not in shipped()
    assert make_candidate(shipped(), "cpp").tunables == {}


def test_the_code_itself_is_unchanged():
    body = samples.SOURCE.partition("// ///\n")[2]
    assert shipped().endswith(body)


@pytest.mark.parametrize(
    ("value", "macro"), [(True, "1"), (0.5, "0.5"), ("fast", "fast"), (-3, "-3")]
)
def test_macros(value, macro):
    made = samples.candidate().model_copy(update={"tunables": {"A": value}})
    assert f"#define A {macro}\n" in file.fixed(made)


def test_strategy_with_quotes_survives():
    made = samples.candidate().model_copy(update={"strategy": 'a "b" \\ c'})
    assert parse(file.fixed(made), "cpp").strategy == 'a "b" \\ c'


def test_a_backslash_cannot_continue_the_comment():
    found = samples.summary()
    task = found.task.model_copy(update={"summary": "ends in \\"})
    text = file.export(dataclasses.replace(found, task=task))["twice.cpp"]
    assert "\\\n" not in text.partition("#include")[0]


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        ("interrupted", "runs resume"),
        ("running", "runs show"),
        ("budget", "runs resume"),
        ("no_improvement", "--effort thorough"),
    ],
)
@pytest.mark.parametrize("won", [True, False])
def test_without_a_winner_there_is_nothing_to_ship(status, hint, won):
    with pytest.raises(UsageError, match="no confirmed winner") as caught:
        file.export(samples.summary(status, won=won))
    assert hint in caught.value.hint


@pytest.mark.parametrize("opening", ["/////kernelwright", "  //  ///  kernelwright  "])
def test_a_header_is_found_however_it_is_spaced(opening):
    source = samples.SOURCE.replace("// /// kernelwright", opening)
    made = file.fixed(make_candidate(source, "cpp", {"THREADS": 1}))
    assert parse(made, "cpp").tune == {}


PYTHON = """# /// kernelwright
# strategy = "in place"
# tune.BLOCK = [4, 8]
# tune.WAY = ["a", "b"]
# ///
def twice(x, y, N, *, BLOCK, WAY):
    return (BLOCK, WAY, N)
"""


def test_a_python_winner_has_its_numbers_bound():
    who = make_candidate(PYTHON, "torch", {"BLOCK": 8, "WAY": "b"})
    made = dataclasses.replace(samples.summary(found=samples.evaluation(who)), best=who)
    ((name, text),) = file.export(made).items()
    assert name == "twice.py"
    assert text.startswith("# twice: Every element doubled\n")
    assert "Build:" not in text
    header = parse(text, "torch")
    assert header.strategy == "in place"
    assert make_candidate(text, "torch").tunables == {}
    names = {}
    exec(text, names)
    assert names["twice"](1, 2, 3) == (8, "b", 3)


def test_a_python_winner_without_numbers_is_its_own_text():
    source = "def twice(x, y, N):\n    y.copy_(x * 2)\n"
    who = make_candidate(source, "torch", {})
    made = dataclasses.replace(samples.summary(found=samples.evaluation(who)), best=who)
    (text,) = file.export(made).values()
    assert text.endswith(source)
