"""The build pool: CUDA by nvcc to a plain shared library, Triton ahead of time; never the device.

A build's key is a hash of source, headers and flags; what was built once is found again by a
later sitting. Times are seconds.
"""

import hashlib
import json
import os
import queue
import shutil
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tasks import TASKS

HERE = Path(__file__).resolve().parent
CANDIDATES = HERE / "candidates"
NVCC = [
    "nvcc", "-O3", "-std=c++17", "-gencode=arch=compute_90a,code=sm_90a", "-shared",
    "-Xcompiler", "-fPIC", f"-I{CANDIDATES}",
]  # fmt: skip
KINDS = {".cu": "cuda", ".py": "python"}


class Ahead:
    """A process that compiles Triton candidates and keeps its imports between them."""

    def __init__(self, arch: int = 90) -> None:
        began = time.perf_counter()
        hidden = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "ahead.py"), str(arch)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=hidden,
        )  # fmt: skip
        self.process.stdout.readline()
        self.start_s = time.perf_counter() - began

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"error": "the compiler's process ended"}

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(10)


class BuildPool:
    """Builds requests beside the device; a future each."""

    def __init__(self, folder: Path, threads: int = 8, compilers: int = 2) -> None:
        self.folder = folder
        self.threads = ThreadPoolExecutor(threads)
        self.free: queue.Queue[Ahead] = queue.Queue()
        for started in [self.threads.submit(Ahead) for _ in range(compilers)]:
            self.free.put(started.result())

    def submit(self, request: dict[str, Any]) -> Future:
        return self.threads.submit(self.build, request)

    def build(self, request: dict[str, Any]) -> dict[str, Any]:
        """Where the result lies and what it cost; ``error`` instead when it could not be built."""
        began = time.perf_counter()
        source = CANDIDATES / request["source"]
        text = source.read_text() + "\n" + request.get("salt", "")
        flags = [f"-D{name}={value}" for name, value in request.get("defines", {}).items()]
        home = self.folder / self.key(text, source.suffix, flags)
        home.mkdir(parents=True, exist_ok=True)
        kept = home / "built.json"
        if kept.exists():
            return {**json.loads(kept.read_text()), "cached": True}
        copy = home / source.name
        comment = "// " if source.suffix == ".cu" else "# "
        copy.write_text(source.read_text() + f"\n{comment}{request.get('salt', '')}\n")
        make = self.cuda if source.suffix == ".cu" else self.python
        built = {"kind": KINDS[source.suffix], **make(copy, flags, request)}
        built["build_s"] = time.perf_counter() - began
        kept.write_text(json.dumps(built))
        return {**built, "cached": False}

    @staticmethod
    def key(text: str, suffix: str, flags: list[str]) -> str:
        headers = "".join(sorted(path.read_text() for path in CANDIDATES.glob("*.h")))
        parts = "\0".join([text, headers if suffix == ".cu" else "", *NVCC, *flags])
        return hashlib.sha256(parts.encode()).hexdigest()[:20]

    @staticmethod
    def cuda(copy: Path, flags: list[str], request: dict[str, Any]) -> dict[str, Any]:
        library = copy.with_suffix(".so")
        command = [*NVCC, *flags, "-o", str(library), str(copy)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            return {"error": done.stderr[-2000:]}
        return {"path": str(library)}

    def python(self, copy: Path, _: list[str], request: dict[str, Any]) -> dict[str, Any]:
        """A module is compiled ahead only if it is written in Triton."""
        if "triton" not in copy.read_text():
            return {"path": str(copy)}
        cache = copy.parent / "cache"
        question = {**TASKS[request["task"]].message(), "path": str(copy), "cache": str(cache)}
        question["values"] = request.get("values", {})
        compiler = self.free.get()
        try:
            reply = compiler.ask(question)
        finally:
            self.free.put(compiler)
        return {"path": str(copy), "cache": str(cache), **reply}

    def close(self) -> None:
        self.threads.shutdown()
        while not self.free.empty():
            self.free.get().close()


def copy_cache(cache: Path, home: Path) -> Path:
    """A Triton cache at another place: its groups name their files by absolute paths."""
    shutil.copytree(cache, home)
    for group in home.glob("*/__grp__*.json"):
        group.write_text(group.read_text().replace(str(cache), str(home)))
    for path in [home, *home.rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)
    return home


def own_copy(built: dict[str, Any], home: Path) -> dict[str, Any]:
    """What was built, copied for its worker alone: a shared cache could be poisoned."""
    own = {**built, "path": str(shutil.copy(built["path"], home))}
    if built.get("cache"):
        own["cache"] = str(copy_cache(Path(built["cache"]), home / "cache"))
    return own
