"""What the judge makes of candidates, honest and otherwise, each in a real process."""

from __future__ import annotations

from functools import cache

import pytest

from kernelwright.checks.sensitivity import InsensitiveTask
from kernelwright.errors import PrerequisiteError, UserError
from kernelwright.executors.local import LocalExecutor
from kernelwright.records.outcome import Decision, Outcome
from kernelwright.records.rung import Rung
from tests.device import judging
from tests.device.judging import RIGHT, UNSHIFTED, body

PLANS = {one.rung: one for one in (judging.DRAFT, judging.SCREEN, judging.FULL, judging.CONFIRM)}


@pytest.fixture(scope="module")
def court(tmp_path_factory):
    executor = LocalExecutor(threads=2, cache=tmp_path_factory.mktemp("cache"))
    yield judging.Court(executor, judging.task())
    executor.close()


@pytest.fixture(scope="module")
def honest(court):
    """What the judge makes of the honest loop, once a rung: a confirm times five baselines."""
    return cache(lambda rung: court.judge(judging.LOOP, PLANS[rung]))


def test_the_session_names_every_baseline_or_why_it_is_missing(court):
    found = {one.name: one for one in court.session.baselines}
    assert set(found) == {"loop", "numpy", "eager", "fused", "compile"}
    assert all(bool(one.time_us) != bool(one.missing) for one in found.values())
    assert found["fused"].missing
    assert court.session.strongest in found


CONTROLS = {"against itself", "planted slower", "no-op"}


def test_the_session_tested_its_judge_first(court):
    found = {one.name: one for one in court.session.controls}
    assert set(found) == CONTROLS
    assert found["no-op"].verdict == "held"
    assert found["planted slower"].verdict in ("held", "too noisy")


@pytest.mark.parametrize("plan", PLANS.values())
def test_an_honest_candidate_passes_every_rung(court, honest, plan):
    found = honest(plan.rung)
    assert found.outcome is Outcome.PASSED, (found.reason, found.evidence)
    assert found.build is not None
    assert len(found.build.binary) == 64
    assert not found.quarantined
    if plan.rung > Rung.DRAFT:
        assert {one.name for one in found.controls} == CONTROLS
        assert found.measurements[0].time_us.median > 0
        assert found.comparisons[0].baseline == court.session.strongest or plan is judging.CONFIRM


def test_confirm_compares_with_every_baseline_that_can_be_had(honest):
    found = honest(Rung.CONFIRM)
    named = {one.baseline for one in found.comparisons} | set(found.evidence["missing_baselines"])
    assert named == {"loop", "numpy", "eager", "fused", "compile"}
    assert found.evidence["same_binary_as_first_build"] is True


@pytest.mark.parametrize("plan", [judging.FULL, judging.CONFIRM])
def test_a_look_whose_time_is_over_decides_nothing_and_passes_its_checks(court, plan):
    found = court.judge(judging.LOOP, plan, time_s=0.0)
    assert found.outcome is Outcome.PASSED, (found.reason, found.evidence)
    assert {one.name for one in found.checks} >= {"smoke", "edges", "timed_stability"}
    for one in found.comparisons:
        assert one.pairs < plan.looks[0]
        assert one.decision in (Decision.UNDECIDED, Decision.SLOWER)  # a few pairs decide no more


REMEMBERS = f"""{RIGHT}
static float* kept = nullptr;
if (N == 512 && kept) memcpy(y, kept, 4 * M * N);
if (N == 512 && !kept) kept = (float*)memcpy(malloc(4 * M * N), y, 4 * M * N);"""
DEFERS = f"""
static int calls = 0;
if (++calls < 14) {{ {RIGHT} }}
else std::thread([=] {{ usleep(2000); {RIGHT} }}).detach();"""
CHILDREN = f"""{RIGHT}
for (int i = 0; i < 3; ++i) if (fork() == 0) {{ setsid(); sleep(60); _exit(0); }}"""
EATS = f"""
while (void* p = malloc(1 << 28)) memset(p, 1, 1 << 28);
{RIGHT}"""
WRONG = {
    "off by one per cent": (f"{RIGHT} y[5] *= 1.01f;", Outcome.WRONG_VALUES),
    "one output never written": (
        RIGHT.replace("q,", "(float*)malloc(M * 4 + 4),", 1),
        Outcome.WRONG_VALUES,
    ),
    "last row never written": (
        "honest(x, s, y, q, alpha, M > 7 ? M - 1 : M, N);",
        Outcome.WRONG_VALUES,
    ),
    "not a number": (f"{RIGHT} y[3] = NAN;", Outcome.NOT_FINITE),
    "infinite": (f"{RIGHT} q[0] = INFINITY;", Outcome.NOT_FINITE),
    "error code": (f"{RIGHT} return 7;", Outcome.RUNTIME_ERROR),
    "writes past the end": (f"{RIGHT} q[M] = 1;", Outcome.OUT_OF_BOUNDS),
    "writes before the start": (f"{RIGHT} y[-1] = 1;", Outcome.OUT_OF_BOUNDS),
    "reads past the end of an input": (
        f"volatile float t = x[M * N + 20]; {RIGHT}",
        Outcome.OUT_OF_BOUNDS,
    ),
    "writes what its input holds already": (
        f"volatile float* v = (float*)x; v[2] = v[2]; {RIGHT}",
        Outcome.INPUT_MUTATED,
    ),
    "changes an input": (f"{RIGHT} ((float*)x)[2] += 1;", Outcome.INPUT_MUTATED),
    "unshifted exponential": (
        UNSHIFTED,
        Outcome.NUMERICALLY_UNSTABLE,
    ),
    "segmentation fault": ("*(volatile int*)8 = 1;", Outcome.CRASHED),
    "abort": ("abort();", Outcome.CRASHED),
    "leaves with zero": ("_exit(0);", Outcome.CRASHED),
    "unwinds to nowhere": ("throw 1;", Outcome.CRASHED),
    "kills itself": ("kill(getpid(), SIGKILL);", Outcome.CRASHED),
    "asks for more memory than there is": (
        "y[0] = (new char[size_t(1) << 50])[5];",
        Outcome.OUT_OF_MEMORY,
    ),
    "kills its group": ("kill(0, SIGKILL);", Outcome.CRASHED),
    "stale after the first calls": (
        f"static int calls = 0; if (++calls < 12) {{ {RIGHT} }}",
        Outcome.STALE_OR_CACHED_OUTPUT,
    ),
    "defers its work to a thread": (DEFERS, Outcome.DEFERRED_WORK),
    "starts a process and waits for it": (
        f"const int child = fork(); if (child == 0) _exit(0); waitpid(child, 0, 0); {RIGHT}",
        Outcome.DEFERRED_WORK,
    ),
    "remembers the first answer": (
        REMEMBERS,
        Outcome.STALE_OR_CACHED_OUTPUT,
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_candidate_is_rejected_for_the_right_reason(court, name):
    text, outcome = WRONG[name]
    found = court.judge(body(text))
    assert found.outcome is outcome, (found.reason, found.evidence)
    assert found.reason
    assert not found.measurements
    assert not found.comparisons


def test_a_signal_is_named_and_memory_is_not_guessed_at(court):
    found = court.judge(body("kill(getpid(), SIGKILL);"))
    assert found.reason == "the candidate crashed with SIGKILL"
    assert found.evidence["exit_code"] == -9


def test_a_look_is_made_against_the_baseline_that_is_asked_for(court):
    other = next(
        one.name
        for one in court.session.baselines
        if one.time_us and one.name != court.session.strongest
    )
    found = court.judge(judging.LOOP, against=other)
    assert found.outcome is Outcome.PASSED, found.reason
    assert {one.baseline for one in found.comparisons} == {other}
    with pytest.raises(PrerequisiteError, match="no baseline fused here"):
        court.judge(judging.LOOP, against="fused")


def test_edges_are_seen_at_the_full_rung(court):
    source = body(
        f"{RIGHT} if (N % 16) y[M * N - 1] = 0;".replace("N % 16", "N % 2 == 0 && N < 40")
    )
    found = court.judge(source, judging.FULL)
    assert found.outcome is Outcome.EDGE_CASE_FAILED, (found.reason, found.evidence)
    assert "axes" in found.evidence


def test_a_race_is_seen_by_repeating(court):
    wrong = "M == 7 && ++calls >= 60 && calls % 10 == 0"
    text = f"static int calls = 0; {RIGHT} if ({wrong}) q[0] += 1;"
    found = court.judge(body(text), judging.FULL)
    assert found.outcome is Outcome.NONDETERMINISTIC


BROKEN = {
    "syntax": ("extern int blend(", Outcome.BUILD_ERROR),
    "no entry": ("int other() { return 0; }", Outcome.SIGNATURE_ERROR),
    "other arguments": ('extern "C" int blend(const float* x) { return 0; }',
                        Outcome.SIGNATURE_ERROR),
    "undefined symbol": (
        body("extern \"C\" int nowhere(); return nowhere();".replace(
            'extern "C" int nowhere();', ""), 'extern "C" int nowhere();'),
        Outcome.BUILD_ERROR,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_built_says_why(court, name):
    text, outcome = BROKEN[name]
    found = court.judge(text, judging.DRAFT)
    assert found.outcome is outcome, (found.reason, found.evidence, found.build)
    assert found.reason


def test_a_hang_ends_at_its_deadline_and_the_judge_goes_on(court):
    found = court.judge(body("for (volatile int i = 0;; i = 0) {}"))
    assert found.outcome is Outcome.TIMEOUT
    assert court.judge(judging.LOOP).outcome is Outcome.PASSED


NUISANCES = (
    Outcome.DEFERRED_WORK,
    Outcome.PASSED,  # it did its work beside the nuisance
    Outcome.CRASHED,
    Outcome.OUT_OF_MEMORY,
    Outcome.TIMEOUT,
    Outcome.CLOCK_DISAGREEMENT,
)


@pytest.mark.parametrize(
    "text",
    [
        f'for (long i = 0; i < 20000000; ++i) puts("{"x" * 50}"); {RIGHT}',
        CHILDREN,
        f"for (int i = 0; i < 100000; ++i) if (fork() == 0) {{ pause(); }} {RIGHT}",
        EATS,
    ],
    ids=["prints a gigabyte", "leaves children", "forks without end", "eats memory"],
)
def test_a_nuisance_cannot_stop_the_judge(court, text):
    found = court.judge(body(text))
    assert found.outcome in NUISANCES
    assert court.judge(judging.LOOP).outcome is Outcome.PASSED


def test_two_sandboxes_off_and_auto_agree(court):
    assert court.judge(judging.LOOP, sandbox="off").outcome is Outcome.PASSED


UNRELIABLE = """
import os
calls = 0
def blend(xp, x, s, alpha):
    global calls
    calls += 1
    if calls > 150 and "KERNELWRIGHT_ORACLE" not in os.environ:
        {text}
    shifted = x - xp.max(x, axis=-1, keepdims=True)
    return alpha * xp.exp(shifted) + s[:, None], xp.sum(x * x, axis=-1)
"""


@pytest.mark.parametrize(
    "text", ["os._exit(0)", "os.closerange(0, 4096)", "os.kill(0, 9)", "raise OSError('late')"]
)
def test_a_reference_that_breaks_as_a_baseline_is_a_fault_of_the_task(tmp_path, text):
    source = UNRELIABLE.format(text=text)
    reference = {"kind": "array", "entry": "blend", "source": source}
    executor = LocalExecutor(threads=2, cache=tmp_path, baselines=("numpy",))
    try:
        with pytest.raises(UserError) as problem:
            unreliable(executor, judging.task(reference=reference))
    finally:
        executor.close()
    assert problem.value.hint
    assert "(numpy)" in problem.value.message


def unreliable(executor, task):
    """Looks until the baseline breaks."""
    court = judging.Court(executor, task)
    for _ in range(20):
        court.judge(judging.LOOP)


# --- what is allowed, and what is said about it -------------------------------------------------


def test_a_pass_says_how_near_it_came(honest):
    nearest = honest(Rung.FULL).evidence["nearest_to_limit"]
    assert 0 < nearest["share"] <= 1
    assert nearest["output"] in ("y", "q")
    assert nearest["workload"]
    first, last = nearest["worst_tile"]
    assert 0 <= first < last


def test_reading_a_whole_vector_at_the_end_of_an_input_passes(court):
    reads = "static volatile float t; for (int64_t at = M * N; at % 16; ++at) t = x[at];"
    found = court.judge(body(f"{reads} {RIGHT}"))
    assert found.outcome is Outcome.PASSED, (found.reason, found.evidence)


def test_a_library_that_a_call_loads_is_named(court):
    loads = '#include <dlfcn.h>\nstatic void* load() { return dlopen("libz.so.1", RTLD_NOW); }'
    found = court.judge(body(f"static void* library = load(); (void)library; {RIGHT}", loads))
    assert found.outcome is Outcome.PASSED, (found.reason, found.evidence)
    assert found.evidence["libraries"] == ["libz"]
    assert "libraries" not in court.judge(judging.LOOP).evidence


ONLY_LARGE = f"""
if (M * N < 10000) {{ {RIGHT} return 0; }}
{UNSHIFTED}"""


def test_hostile_values_come_at_the_timed_size_too(court):
    found = court.judge(body(ONLY_LARGE), judging.FULL)
    assert found.outcome is Outcome.NUMERICALLY_UNSTABLE, (found.reason, found.evidence)
    assert found.evidence["workload"] == "main"
    assert found.checks[-1].name == "timed_stability"


SELDOM = f"""static int calls = 0; {RIGHT}
if (M * N > 10000 && ++calls % 7 == 0) q[0] *= 2;"""


def test_alike_calls_at_the_timed_size_are_all_compared(court):
    plan = judging.CONFIRM.model_copy(update={"stages": ("smoke", *["timed_repeats"] * 2)})
    found = court.judge(body(SELDOM), plan)
    assert found.outcome is Outcome.NONDETERMINISTIC, (found.reason, found.evidence)
    assert found.checks[-1].name == "timed_repeats"


FLICKERS = (
    f"static int calls = 0; {RIGHT}"
    " if (++calls % 2 && M * N > 0) y[0] = std::nextafter(y[0], 9.0f);"
)


def test_bits_that_differ_are_a_label_unless_the_task_forbids_it(court, tmp_path):
    found = court.judge(body(FLICKERS), judging.FULL)
    assert found.outcome is Outcome.PASSED, (found.reason, found.evidence)
    assert found.evidence["distinct_results_in_40_repeats"] == 2
    executor = LocalExecutor(threads=2, cache=court.executor.cache)
    try:
        strict = judging.Court(executor, judging.task(determinism="bitwise"))
        assert strict.judge(judging.LOOP, judging.FULL).outcome is Outcome.PASSED
        found = strict.judge(body(FLICKERS), judging.FULL)
    finally:
        executor.close()
    assert found.outcome is Outcome.NONDETERMINISTIC
    assert found.evidence == {"distinct": 2}


SUM = """#include <cstdint>
extern "C" int total(const float* x, float* y, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < N; ++j) sum += x[i * N + j];
    y[i] = sum;
  }
  return 0;
}
"""


def total(body, **changes):
    """A task over rows; sensitive or not as its reference makes it."""
    fields = {
        "name": "total",
        "entry": "total",
        "inputs": [{"name": "x", "dtype": "float32", "shape": ["M", "N"]}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": ["M"]}],
        "scalars": [],
        "reference": {
            "kind": "array",
            "entry": "total",
            "source": f"def total(xp, x):\n    return {body}\n",
        },
        "baseline": SUM,
    }
    return judging.task(**fields | changes)


def test_an_insensitive_task_is_refused_when_it_is_opened(court):
    executor = LocalExecutor(threads=2, cache=court.executor.cache)
    try:
        with pytest.raises(InsensitiveTask, match="two seeds") as caught:
            executor.open(total("xp.sum(x * 0, axis=-1)"))
        assert caught.value.hint
        known = caught.value.found.model_copy(update={"reason": "as it was seen"})
        with pytest.raises(InsensitiveTask, match="as it was seen"):
            executor.open(total("xp.sum(x * 0, axis=-1)"), known)
    finally:
        executor.close()


def test_sums_must_be_exact_and_a_loose_tolerance_is_tightened(court):
    executor = LocalExecutor(threads=2, cache=court.executor.cache)
    try:
        loose = judging.Court(executor, total("xp.sum(x, axis=-1)", tolerance={"k": 1e6}))
        seen = loose.session.sensitivity
        assert seen.tightened_from.k == 1e6
        assert seen.tolerance.k < 1e6
        passed = loose.judge(SUM)
        assert passed.outcome is Outcome.PASSED, (passed.reason, passed.evidence)
        assert passed.evidence["tolerance_tightened"]["from"]["k"] == 1e6
        # Within the tolerance of ordinary values, but not exact on small integers.
        found = loose.judge(SUM.replace("y[i] = sum", "y[i] = sum * 1.0000001f"))
    finally:
        executor.close()
    assert found.outcome is Outcome.WRONG_VALUES, (found.reason, found.evidence)
    assert "exact" in found.reason
    assert found.evidence["note"] == "hostile inputs: integers"
