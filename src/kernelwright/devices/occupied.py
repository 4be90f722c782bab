"""How many cores others take from whoever wants all of them, felt from a new process."""

import subprocess
import sys
from pathlib import Path

from kernelwright.devices import detect

SPIN_S = 0.02
"""Several turns of a scheduler: a process that has just come is favoured in the first."""
PATIENCE_S = 10.0
_PROGRAM = Path(__file__).with_name("spin.py")


def lost_cores() -> float:
    """Cores that a new process with a thread on each would lack, 0 on an idle machine.

    All of them where it cannot even be started, or does not end.
    """
    command = [sys.executable, "-I", "-S", str(_PROGRAM), str(SPIN_S)]
    try:
        said = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, check=True
        ).stdout
        shares = [float(word) for word in said.split()]
    except (OSError, subprocess.SubprocessError, ValueError):
        return float(detect.cores())
    return sum(1 - min(share, 1.0) for share in shares) + detect.cores() - len(shares)
