"""Compiles a Triton candidate without a device, into a cache that its worker will find.

A long-lived process: one JSON question a line, one JSON answer a line. The candidate's host
function runs with stand-ins for tensors under a driver that only names a target; every launch is
captured as a compilation. Imports no array framework. Times are seconds.
"""

import importlib.util
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.driver import CudaLauncher
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction, MockTensor

TYPES = {"bf16": "torch.bfloat16", "f32": "torch.float32"}


class DType:
    """Looks like a framework's dtype to the specialiser, which reads its text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return str(other) == self.text


class NoDevice:
    """An active driver for a process that has none."""

    def __init__(self, arch: int) -> None:
        self.target = GPUTarget("cuda", arch, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        return self.target


def stand_in(dtype: str, shape: list[int]) -> MockTensor:
    return MockTensor(DType(TYPES[dtype]), list(shape))


def capture(into: list[Any]) -> None:
    """Turns every launch into a compilation whose kernel is kept in ``into``."""
    original = vars(JITFunction).get("_launching") or JITFunction.run
    JITFunction._launching = original

    def run(self: JITFunction, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        kernel = original(self, *args, grid=grid, warmup=True, **kwargs)
        into.append(kernel)
        return kernel

    JITFunction.run = run


def compile_candidate(question: dict[str, Any]) -> dict[str, Any]:
    os.environ["TRITON_CACHE_DIR"] = question["cache"]
    kernels: list[Any] = []
    capture(kernels)
    began = time.perf_counter()
    spec = importlib.util.spec_from_file_location("candidate", question["path"])
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    spec.loader.exec_module(module)
    tensors = [stand_in(question["dtype"], shape) for shape in question["shapes"]]
    tensors.append(stand_in(question["dtype"], question["out_shape"]))
    getattr(module, question["entry"])(*tensors, *question["axes"], **question["values"])
    compiled = time.perf_counter()
    for kernel in kernels:
        CudaLauncher(kernel.src, kernel.metadata)
    return {
        "kernels": [[kernel.name, kernel.hash[:16], kernel.metadata.shared] for kernel in kernels],
        "compile_s": compiled - began,
        "launcher_s": time.perf_counter() - compiled,
    }


def compile_bare(question: dict[str, Any]) -> dict[str, Any]:
    """The control: the same kernel as an ASTSource without attributes, which a launch misses."""
    os.environ["TRITON_CACHE_DIR"] = question["cache"]
    spec = importlib.util.spec_from_file_location("candidate", question["path"])
    module = importlib.util.module_from_spec(spec)
    sys.modules["candidate"] = module
    spec.loader.exec_module(module)
    source = triton.compiler.ASTSource(
        fn=getattr(module, question["kernel"]),
        signature=question["signature"],
        constexprs=question["constants"],
    )
    kernel = triton.compile(source, target=driver.active.target, options=question["options"])
    return {"kernels": [[kernel.name, kernel.hash[:16], kernel.metadata.shared]]}


def prime() -> None:
    """A first compilation costs seconds that later ones do not."""
    with tempfile.TemporaryDirectory() as cache:
        path = str(Path(__file__).with_name("primer.py"))
        question = {"path": path, "cache": cache, "entry": "add_one", "dtype": "f32", "shapes": [],
                    "out_shape": [4096], "axes": [], "values": {}}  # fmt: skip
        compile_candidate(question)


def main() -> None:
    driver.set_active(NoDevice(int(sys.argv[1])))
    prime()
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        question = json.loads(line)
        try:
            reply = (compile_bare if question.get("bare") else compile_candidate)(question)
        except Exception as problem:  # noqa: BLE001 whatever a candidate raises is its answer
            reply = {"error": f"{type(problem).__name__}: {problem}"[:4000]}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
