"""Where the CUDA compiler is looked for, what it is asked, and what is built for."""

import os
from pathlib import Path

import pytest

from kernelwright.devices import gpu
from kernelwright.errors import PrerequisiteError
from kernelwright.languages import nvcc, toolchain
from kernelwright.languages.cuda import Cuda
from kernelwright.languages.nvcc import Target
from kernelwright.languages.toolchain import Toolchain

GCC = Toolchain("g++", "/usr/bin/g++", "gcc", "g++ 12", "yes", "id")
SAYS = """#!/bin/sh
case "$1" in
--version) echo "Cuda compilation tools, release 13.0, V13.0.88" ;;
--dryrun)
  echo '#$ _HERE_={home}/bin' >&2
  echo '#$ TOP={home}/bin/..' >&2
  echo '#$ LIBRARIES=  "-L{home}/lib/stubs" "-L{home}/bin/../lib"' >&2
  ;;
*) {builds} ;;
esac
"""


def installed(home, builds="exit 0"):
    """A toolkit whose compiler says what a real one says."""
    (home / "bin").mkdir(parents=True)
    tool = home / "bin" / "nvcc"
    tool.write_text(SAYS.format(home=home, builds=builds))
    tool.chmod(0o755)
    return tool


@pytest.fixture(autouse=True)
def _nothing_here(monkeypatch):
    """No toolkit of this machine, and a C++ compiler that is not asked."""
    monkeypatch.setattr(nvcc, "PLACES", ())
    monkeypatch.setattr(toolchain, "find", lambda name, memory: GCC)
    monkeypatch.setattr(gpu, "architecture", lambda: "")
    for name in nvcc.HOMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr("shutil.which", lambda name: None)


def test_a_home_that_is_named_is_taken(tmp_path, monkeypatch):
    home = tmp_path / "cuda"
    tool = installed(home)
    monkeypatch.setenv("CUDA_HOME", str(home))
    found = nvcc.find()
    assert (found.path, found.home) == (str(tool), home)
    assert found.version == "nvcc 13.0.88 with g++ 12"
    assert found.folders == (f"{home}/lib/stubs", f"{home}/lib")
    assert home in found.readable


def test_a_wrapper_is_seen_through(tmp_path, monkeypatch):
    tool = installed(tmp_path / "cuda")
    wrapper = tmp_path / "nvcc"
    wrapper.write_text(f'#!/bin/sh\nexec {tool} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name: str(wrapper))
    assert nvcc.find().path == str(tool)


def test_its_usual_place_comes_last(tmp_path, monkeypatch):
    usual, named = installed(tmp_path / "usual"), installed(tmp_path / "named")
    monkeypatch.setattr(nvcc, "PLACES", (str(usual),))
    assert nvcc.find().path == str(usual)
    monkeypatch.setenv("CUDA_PATH", str(named.parents[1]))
    assert nvcc.find().path == str(named)
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "nowhere"))
    assert nvcc.find().path == str(usual)


def test_another_compiler_is_another_identity(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    tool = installed(tmp_path / "cuda")
    first = nvcc.find()
    nvcc._examined.cache_clear()
    os.utime(tool, ns=(1, 1))
    assert nvcc.find().identity != first.identity


def test_none_is_missing_with_a_hint():
    found = Cuda().available()
    assert not found.ok
    assert found.reason.startswith("no CUDA compiler: nvcc is not on the PATH")
    assert "install the CUDA toolkit" in found.hint
    with pytest.raises(PrerequisiteError):
        nvcc.find()


def test_one_that_says_nothing_does_not_work(tmp_path, monkeypatch):
    home = tmp_path / "cuda"
    installed(home).write_text("#!/bin/sh\necho 'cannot execute' >&2\nexit 1\n")
    monkeypatch.setenv("CUDA_HOME", str(home))
    with pytest.raises(PrerequisiteError, match="does not work: cannot execute"):
        nvcc.find()


def test_one_that_cannot_build_says_why(tmp_path, monkeypatch):
    home = tmp_path / "cuda"
    wrong = "/usr/x/crt/host_config.h:1:2: error: #error -- unsupported GNU version!"
    installed(home, builds=f"echo 'In file x:' >&2; echo '{wrong}' >&2; exit 1")
    monkeypatch.setenv("CUDA_HOME", str(home))
    found = Cuda(arch="sm_80").available()
    assert found.reason == f"nvcc cannot build for sm_80 here: {wrong}"
    assert "compiler" in found.hint


def test_one_that_can_build_says_for_what(tmp_path, monkeypatch):
    installed(tmp_path / "cuda")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "cuda"))
    found = Cuda(arch="sm_80").available()
    assert found.version == "nvcc 13.0.88 with g++ 12, for sm_80 (as cuda_arch says)"
    assert found.facts["architecture"] == "sm_80"


def test_what_is_wanted_then_what_is_here_then_hopper(monkeypatch):
    assert nvcc.target("sm_80") == Target("sm_80", "as cuda_arch says")
    assert nvcc.target() == Target("sm_90a", "no GPU is seen here")
    monkeypatch.setattr(gpu, "architecture", lambda: "sm_89")
    assert nvcc.target() == Target("sm_89", "the GPU here")
    assert nvcc.target().option == "-gencode=arch=compute_89,code=sm_89"


def test_the_setting_decides(monkeypatch):
    monkeypatch.setenv("KERNELWRIGHT_CUDA_ARCH", "sm_86")
    assert Cuda(cache=Path("unused")).target.name == "sm_86"
    assert Cuda(cache=Path("unused"), arch="sm_80").target.name == "sm_80"
