"""Every expert kernel and plain loop of the core suite for the CPU, built and judged.

Generic over the folders: a new file is covered as soon as it lies in its place.
"""

from __future__ import annotations

import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from kernelwright.candidates.fingerprint import make_candidate
from kernelwright.languages import toolchain
from kernelwright.languages.macros import literal
from kernelwright.records.candidate import Candidate
from kernelwright.records.outcome import Outcome
from tests.device.expert_cases import (
    Jury,
    Source,
    Workshop,
    candidates,
    ops,
    points,
    sources,
    task_of,
)

pytestmark = pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")
COMPILERS = [name for name in toolchain.NAMES if shutil.which(name)]
# A loop left unvectorised is no defect.
WARNINGS = {
    "g++": ("-Wall", "-Wextra", "-Werror"),
    "clang++": ("-Wall", "-Wextra", "-Werror", "-Wno-pass-failed"),
}


@pytest.fixture(scope="session")
def workshop(tmp_path_factory):
    with closing(Workshop(tmp_path_factory.mktemp("cache"))) as found:
        yield found


@pytest.fixture(scope="module")
def jury(request, workshop, tmp_path_factory):
    op = request.param
    for source in sources(op):
        for candidate in candidates(source):
            workshop.order(task_of(op), candidate)
    with closing(Jury(op, tmp_path_factory.mktemp(op))) as found:
        yield found


SOURCES = [source for op in ops() for source in sources(op)]


@pytest.mark.parametrize(
    ("jury", "source"),
    [(source.op, source) for source in SOURCES],
    indirect=["jury"],
    ids=[f"{source.op}-{source.path.stem}" for source in SOURCES],
)
def test_every_kernel_is_right(workshop, jury, source):
    for candidate in candidates(source):
        verdict = jury.judge(workshop.library(jury.task, candidate))
        assert verdict.finding is None, (candidate.tunables, *verdict)


# Operation, file, what is replaced by what, and the stage and the outcome that must catch it.
PLANTED = {
    "a tail filled with zeros": (
        "softmax", "online-two-pass",
        "LANES, lanes, -HUGE_VALF)", "LANES, lanes)",
        "smoke", Outcome.WRONG_VALUES,
    ),
    "a shorter polynomial": (
        "softmax", "online-two-pass", "0.008368781f + f * 0.0013814467f", "0.0f",
        "smoke", Outcome.WRONG_VALUES,
    ),
    "a mask off by one": (
        "attention", "online-key-blocks", "least(i0 + i + 1, end)", "least(i0 + i, end)",
        "smoke", Outcome.NOT_FINITE,
    ),
    "the last key lost without a mask": (
        "attention", "online-key-blocks", "i0 + rows : S;", "i0 + rows : S - (S > 200);",
        "declared", Outcome.WRONG_VALUES,
    ),
    "a moment about zero": (
        "layernorm", "shifted-one-pass",
        "origin = total(sums) / static_cast<float>(sample)", "origin = 0 * total(sums)",
        "stability", Outcome.NUMERICALLY_UNSTABLE,
    ),
    "a maximum that loses NaN": (
        "softmax", "baseline", "if (row[j] > largest || std::isnan(row[j])) largest = row[j];",
        "largest = std::fmax(largest, row[j]);\n    if (largest == INFINITY) largest = 3e38f;",
        "stability", Outcome.NUMERICALLY_UNSTABLE,
    ),
    "a rare race": (
        "matvec", "baseline", "return 0;",
        "static int calls = 0; if (M == 13 && ++calls == 68) y[0] += 1;\n  return 0;",
        "repeats", Outcome.NONDETERMINISTIC,
    ),
    "a second pass that forgets the first": (
        "matmul", "register-tiles", "k0 > 0);", "false);", "edges", Outcome.EDGE_CASE_FAILED,
    ),
    "a whole vector at a row's end": (
        "group_conv", "unrolled-columns", "if (cols >= NR) {", "if (cols > 0) {",
        "smoke", Outcome.OUT_OF_BOUNDS,
    ),
    "aligned storage only": (
        "rotary", "baseline", "#pragma omp",
        "if (reinterpret_cast<uintptr_t>(x) % 16) return 0;\n#pragma omp",
        "edges", Outcome.EDGE_CASE_FAILED,
    ),
    "products not quite exact": (
        "matvec", "baseline", "y[i] = sum;", "y[i] = sum * 1.0000001f;",
        "stability", Outcome.WRONG_VALUES,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("jury", "bug"),
    [(planted[0], bug) for bug, planted in PLANTED.items()],
    indirect=["jury"],
    ids=PLANTED,
)
def test_a_planted_bug_is_caught(workshop, jury, bug):
    op, stem, right, wrong, stage, outcome = PLANTED[bug]
    source = next(one for one in sources(op) if one.path.stem == stem)
    honest = candidates(source)[0]
    assert right in honest.source
    mutant = make_candidate(honest.source.replace(right, wrong), "cpp", honest.tunables)
    found = jury.judge(workshop.library(jury.task, mutant))
    assert found.finding is not None
    assert (found.stage, found.finding.outcome) == (stage, outcome), found


@pytest.mark.parametrize("op", ops())
@pytest.mark.parametrize("compiler", COMPILERS)
def test_compiles_without_warnings(workshop, compiler, op):
    found = toolchain.find(compiler, workshop.cache)
    flags = toolchain.base_flags(found.family, openmp=found.openmp == "yes")

    def complaint(source: Source) -> str:
        text = source.path.read_text()
        if "omp.h" in text and found.openmp != "yes":
            return ""
        return _check(compiler, [*flags, *WARNINGS[compiler]], source.path, candidates(source)[0])

    complaints = "".join(workshop.pool.map(complaint, sources(op)))
    assert not complaints, complaints


def _check(compiler: str, flags: list[str], path: Path, candidate: Candidate) -> str:
    """What the compiler says of a kernel, without making code."""
    macros = [f"-D{name}={literal(value)}" for name, value in candidate.tunables.items()]
    own = [*candidate.header.flags, *macros]
    command = [compiler, *flags, *own, "-fsyntax-only", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stderr


@pytest.mark.parametrize("op", ops())
def test_experts_offer_several_structures(op):
    experts = [source for source in sources(op) if source.path.stem != "baseline"]
    assert len(experts) >= 2
    assert all(candidates(source)[0].strategy for source in experts)
    assert sum(len(points(source)) for source in experts) >= 12
