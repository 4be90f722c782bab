"""Candidates that are wrong in one way each are rejected for that reason; honest ones pass."""

import pytest

HEAD = (
    "#include <cstdint>\n#include <cmath>\n"
    'extern "C" int poly(const float* x, float* y, int64_t N) '
)
LOOP = "for (int64_t i = 0; i < N; ++i) "
RIGHT = (
    LOOP + "y[i] = ((((0.5f * x[i] + 0.25f) * x[i] + 0.75f) * x[i] + 1.5f) * x[i] + 0.125f) "
    "* x[i] + 2.0f;"
)
BAD = {
    "wrong values": ("{ " + RIGHT + " y[N - 1] += 0.5f; return 0; }", {"wrong_values"}),
    "not all written": (
        "{ " + RIGHT.replace("i < N", "i < N - 1") + " return 0; }",
        {"wrong_values", "not_finite", "stale_or_cached_output"},
    ),
    "NaN": ("{ " + RIGHT + " y[0] = NAN; return 0; }", {"not_finite", "wrong_values"}),
    "an error code": ("{ " + RIGHT + " return 7; }", {"runtime_error"}),
    "a crash": ("{ *(volatile int*)8 = 1; return 0; }", {"crashed"}),
    "no such function": ("{ return nothing(N); }", {"build_error"}),
    "not C++": ("{ this is no language }", {"build_error", "parse_error"}),
    "another signature": ("{ return 0; }\n", {"signature_error", "build_error", "wrong_values"}),
    "inputs overwritten": (
        "{ " + RIGHT + " for (int64_t i = 0; i < N; ++i) ((float*)x)[i] = 0; return 0; }",
        {"input_mutated", "crashed"},
    ),
    "written past the end": ("{ " + RIGHT + " y[N + 8] = 1; return 0; }", {"out_of_bounds"}),
    "ends the process": ("{ __builtin_trap(); }", {"crashed"}),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_named(folder, name):
    body, outcomes = BAD[name]
    head = HEAD.replace("int64_t N", "int64_t N, float z") if "signature" in name else HEAD
    file = folder.write(f"bad/{name.replace(' ', '_')}.cpp", head + body)
    code, said = folder.json("evaluate", "poly", file, "--rung", "screen")
    assert code == 3, said
    assert said["outcome"] in outcomes
    assert said["reason"]
    assert said["comparisons"] == []
    assert said["measurement"] is None


def test_an_honest_kernel_passes_every_stage(folder):
    code, said = folder.json("evaluate", "poly", "good.cpp", "--rung", "full", "--baseline", "all")
    assert (code, said["outcome"]) == (0, "passed"), said
    assert said["measurement"]["workload"] == "small"
    assert said["comparisons"]
    for one in said["comparisons"]:
        assert one["low"] <= one["ratio"] <= one["high"]
    assert {"smoke", "declared", "stability", "repeats", "edges"} <= {
        one["name"] for one in said["checks"]
    }
    assert said["sandbox"]["active"]


def test_source_from_python(folder, monkeypatch):
    import kernelwright

    monkeypatch.chdir(folder.path)
    for name in ("KERNELWRIGHT_STORE", "KERNELWRIGHT_CACHE"):
        monkeypatch.setenv(name, folder.environment[name])
    verdict = kernelwright.evaluate("poly", f"{HEAD}{{\n{RIGHT}\nreturn 0; }}", rung="smoke")
    assert verdict.outcome == "passed", verdict.reason


def test_a_callable_with_example_inputs(folder, tmp_path, monkeypatch):
    import importlib.util

    import numpy as np

    import kernelwright

    monkeypatch.setenv("KERNELWRIGHT_CACHE", folder.environment["KERNELWRIGHT_CACHE"])
    path = tmp_path / "mine.py"
    path.write_text("def double(x):\n    return x + x\n")
    spec = importlib.util.spec_from_file_location("mine", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    source = (
        '#include <cstdint>\nextern "C" int double_(const float* x, float* out) {\n'
        "for (int i = 0; i < 12; ++i) out[i] = 2 * x[i];\nreturn 0; }"
    )
    verdict = kernelwright.evaluate(
        module.double, source, inputs=[np.ones((3, 4), np.float32)], rung="smoke"
    )
    assert verdict.outcome == "passed", verdict.reason
