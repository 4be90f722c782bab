"""Judges a list of candidates: requests.jsonl in, answers.jsonl out, resumable at any moment.

    python sitting.py REQUESTS FOLDER

An answer is one line, written whole and synced before the next judgement starts; what has an
answer is not judged again. Builds run in a pool beside the device and are kept by content; the
verifier is a process of its own. started.jsonl says which judgement was in flight at a kill.
Times are seconds.
"""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from builds import BuildPool

HERE = Path(__file__).resolve().parent


class Lines:
    """A file of JSON lines that survives a kill: a torn last line is cut off when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()
        whole = path.read_bytes()
        keep = whole.rfind(b"\n") + 1
        if keep < len(whole):
            with path.open("r+b") as file:
                file.truncate(keep)

    def read(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def append(self, row: dict[str, Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")
            file.flush()
            os.fsync(file.fileno())


class VerifierProcess:
    """The verifier behind two pipes; ends with its driver."""

    def __init__(self, folder: Path, batch: int) -> None:
        command = [sys.executable, str(HERE / "verifier.py"), str(folder), str(batch)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.hello = json.loads(self.process.stdout.readline())

    def ask(self, order: dict[str, Any]) -> dict[str, Any]:
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(30)


class Sitting:
    """One resumable pass over requests; owns the build pool and the verifier's process."""

    def __init__(self, requests: list[dict[str, Any]], folder: Path, batch: int = 12) -> None:
        self.began = time.perf_counter()
        folder.mkdir(parents=True, exist_ok=True)
        self.answers = Lines(folder / "answers.jsonl")
        self.started = Lines(folder / "started.jsonl")
        done = {row["id"] for row in self.answers.read()}
        self.todo = [request for request in requests if request["id"] not in done]
        self.builds = BuildPool(folder / "builds")
        self.verifier = VerifierProcess(folder / "verifier", batch)
        self.open_s = time.perf_counter() - self.began

    def built(self, todo: list[dict[str, Any]]) -> Iterator[tuple[dict, dict, float]]:
        """Requests in the order in which their builds end, with the time of that."""
        ready: queue.Queue[tuple[dict, dict, float]] = queue.Queue()

        def watch(request: dict[str, Any]) -> None:
            future = self.builds.submit(request)
            future.add_done_callback(
                lambda f: ready.put((request, f.result(), time.perf_counter()))
            )

        threading.Thread(target=lambda: [watch(r) for r in todo], daemon=True).start()
        for _ in todo:
            yield ready.get()

    def run(self) -> dict[str, float]:
        """Judges all that has no answer; returns how busy the device was with judgements."""
        submitted, busy, first = time.perf_counter(), 0.0, None
        for request, built, ready in self.built(self.todo):
            first = first or ready
            start = time.perf_counter()
            answer = self.judge(request, built)
            stop = time.perf_counter()
            busy += stop - start
            answer["times"] = {"build_s": built["build_s"], "ready_s": ready - submitted,
                               "waited_s": start - ready, "judged_s": stop - start,
                               "source_to_verdict_s": stop - submitted}  # fmt: skip
            self.answers.append(answer)
        whole = time.perf_counter() - (first or submitted)
        return {"open_s": self.open_s, "wall_s": time.perf_counter() - submitted,
                "busy": busy / whole if whole else 0.0}  # fmt: skip

    def judge(self, request: dict[str, Any], built: dict[str, Any]) -> dict[str, Any]:
        self.started.append({"id": request["id"], "pid": os.getpid()})
        if "error" in built:
            return {"id": request["id"], "outcome": "build_failed", "seen": built["error"][:300],
                    "expect": request.get("expect")}  # fmt: skip
        answer = self.verifier.ask({"request": request, "built": built})
        told = {key: built.get(key) for key in ("compile_s", "launcher_s", "cached")}
        return {"id": request["id"], "expect": request.get("expect"), **answer, "built": told}

    def close(self) -> None:
        self.builds.close()
        self.verifier.close()


def main() -> None:
    requests, folder = Lines(Path(sys.argv[1])), Path(sys.argv[2])
    sitting = Sitting(requests.read(), folder)
    print("open", json.dumps({"open_s": sitting.open_s, **sitting.verifier.hello}), flush=True)
    print("done", json.dumps(sitting.run()), flush=True)
    sitting.close()


if __name__ == "__main__":
    main()
