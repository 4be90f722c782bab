"""What the driver's tool says of a GPU, and what follows for constraints of tunables."""

import pytest

from kernelwright.devices import gpu

SAYS = """#!/bin/sh
echo "$@" >>"{folder}/asked"
{answers}
"""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """A tool that gives an answer; what it was asked can be read afterwards."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    gpu.architecture.cache_clear()

    def answers(what):
        tool = tmp_path / "nvidia-smi"
        tool.write_text(SAYS.format(folder=tmp_path, answers=what))
        tool.chmod(0o755)
        gpu.architecture.cache_clear()
        return tmp_path / "asked"

    yield answers
    gpu.architecture.cache_clear()


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("echo 9.0", "sm_90a"),
        ("echo 10.0", "sm_100a"),
        ("echo 8.9", "sm_89"),
        ("echo 8.0; exit 9", ""),
        ("echo No devices were found", ""),
        ("echo 'NVIDIA-SMI has failed'; exit 9", ""),
        ("exit 0", ""),
    ],
)
def test_an_architecture_is_what_the_tool_says(asked, answer, found):
    asked(answer)
    assert gpu.architecture() == found


def test_without_the_tool_there_is_no_gpu(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    gpu.architecture.cache_clear()
    assert gpu.architecture() == ""
    gpu.architecture.cache_clear()


@pytest.mark.parametrize(
    ("visible", "first"), [("3,1", "3"), ("GPU-ab12", "GPU-ab12"), (None, "0")]
)
def test_the_first_that_may_be_used_is_asked(asked, monkeypatch, visible, first):
    said = asked("echo 9.0")
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert gpu.architecture() == "sm_90a"
    assert f"--id={first}" in said.read_text()


@pytest.mark.parametrize("visible", ["", "-1"])
def test_what_is_hidden_is_not_there(asked, monkeypatch, visible):
    said = asked("echo 9.0")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert gpu.architecture() == ""
    assert not said.exists()


def test_facts_are_those_of_the_architecture():
    assert gpu.facts("sm_90a") == {"warp": 32, "shared_memory": 227 << 10}
    assert gpu.facts("sm_89")["shared_memory"] == 99 << 10
    assert gpu.facts("sm_42")["shared_memory"] == gpu.facts("")["shared_memory"] == 48 << 10
