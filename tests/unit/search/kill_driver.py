"""Kills runs at seeded random moments and goes on with them; prints what it saw as JSON.

Started by test_kill.py in a process of its own, because it forks: ``kill_driver.py FOLDER KILLS``.
"""

import json
import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

from kernelwright.records.run import RunSpec
from kernelwright.search.loop import resume_run, start_run
from kernelwright.search.replay import replay_run
from kernelwright.store.store import Store
from kernelwright.testing.simulated import SimulatedExecutor, made_up_candidates, made_up_task

PACE = 0.004
"""Real seconds a simulated one takes."""


class Slow(SimulatedExecutor):
    """Takes real time, so that a kill can hit anything; keeps a log of what it was asked."""

    simulated = False

    def __init__(self, log):
        super().__init__(drafts=2, looks=2)
        self._log = log

    def judge(self, job):
        with self._log.open("a") as file:
            file.write(f"{job.number}\n")
        return super().judge(job)

    def wait(self, timeout=None):
        before = self.clock()
        answer = super().wait(timeout)
        time.sleep(PACE * min(60.0, self.clock() - before))
        return answer


def child(folder, log, resume):
    store = Store.open(str(folder / "store.db"))
    if resume:
        resume_run(store, Slow(log), "latest")
    else:
        spec = RunSpec(task="", device="cpu", proposers=("tune",), effort="quick", threads=1)
        start_run(store, Slow(log), made_up_task(), spec, start=made_up_candidates(3))


def fork(folder, log, resume):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            child(folder, log, resume)
            code = 0
        except BaseException:  # noqa: BLE001 - the parent reports it
            (folder / "problem").write_text(traceback.format_exc())
        finally:
            os._exit(code)
    return pid


def look(folder):
    """What is stored: numbers evaluated, whether a run exists, its status."""
    if not (folder / "store.db").exists():
        return [], None
    store = Store.open(str(folder / "store.db"))
    try:
        runs = store.runs()
        if not runs:
            return [], None
        return [stored.number for stored in store.evaluations(runs[0].id)], runs[0].status
    finally:
        store.close()


def chain(folder, chance, typical):
    """One run, killed until it survives."""
    kills, attempt, problems, status = 0, 0, [], None
    lost = 0
    while True:
        committed, status = look(folder)
        log = folder / f"log-{attempt}"
        pid = fork(folder, log, status is not None)
        deadline = time.monotonic() + chance.uniform(0, typical) * (1 + attempt / 3)
        code = None
        while time.monotonic() < deadline and code is None:
            done, status_word = os.waitpid(pid, os.WNOHANG)
            code = os.waitstatus_to_exitcode(status_word) if done else None
            time.sleep(0.001)
        if code is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            kills += 1
        asked = [int(line) for line in log.read_text().split()] if log.exists() else []
        repeated = sorted(set(asked) & set(committed))
        if repeated:
            problems.append(f"evaluations {repeated} were committed and made again")
        after, status = look(folder)
        if not set(committed) <= set(after):
            problems.append(f"evaluations {sorted(set(committed) - set(after))} were lost")
        if code is None:
            lost += len(set(asked) - set(after))
        attempt += 1
        # The kill may have hit what comes after the last commit.
        if code == 0 or status not in (None, "running"):
            break
        if code is not None:
            problems.append((folder / "problem").read_text())
            break
    store = Store.open(str(folder / "store.db"))
    report = replay_run(store, "latest")
    if not report.matches:
        problems.append(f"replay: {report.first_difference}")
    run = store.run("latest")
    store.close()
    return {"kills": kills, "lost": lost, "status": run.status, "problems": problems}


def main():
    root, wanted = Path(sys.argv[1]), int(sys.argv[2])
    warm = root / "warm"
    warm.mkdir()
    # The first run in this process imports the tuner; it is timed the second time.
    for name in ("first", "second"):
        (warm / name).mkdir()
        began = time.monotonic()
        child(warm / name, warm / f"{name}.log", resume=False)
        typical = time.monotonic() - began
    chance, results, kills = random.Random(7), [], 0
    while kills < wanted:
        folder = root / str(len(results))
        folder.mkdir()
        results.append(chain(folder, chance, typical))
        kills += results[-1]["kills"]
    print(json.dumps({"typical_s": typical, "kills": kills, "chains": results}))


if __name__ == "__main__":
    main()
