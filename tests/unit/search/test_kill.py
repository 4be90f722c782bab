"""A run killed at any moment loses nothing committed, repeats nothing committed, and ends well."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = int(os.environ.get("KILL_MOMENTS", "20"))
DRIVER = Path(__file__).parent / "kill_driver.py"


@pytest.mark.timeout(60 + 30 * KILLS)
def test_a_killed_run_goes_on_where_it_was(tmp_path):
    asked = subprocess.run(
        [sys.executable, str(DRIVER), str(tmp_path), str(KILLS)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 0, asked.stderr[-3000:]
    seen = json.loads(asked.stdout)
    assert seen["kills"] >= KILLS
    assert [chain["problems"] for chain in seen["chains"]] == [[] for _ in seen["chains"]]
    assert {chain["status"] for chain in seen["chains"]} == {"improved"}
    # Kills that never hit a job in flight would have tested nothing.
    assert sum(chain["lost"] for chain in seen["chains"]) > 0
