"""A process that is told to end while a destructor runs ends all the same, and says nothing."""

import signal
import subprocess
import sys

ENDS = """
import time
from kernelwright.evaluation.leaving import leave_on_sigterm, stay

class Slow:
    def __del__(self):
        print("in", flush=True)
        time.sleep({seconds})
        {raised}

leave_on_sigterm()
try:
    slow = Slow()
    del slow
    print("out", flush=True)
    time.sleep(30)
    print("went on")
finally:
    stay()
    time.sleep(0.2)
    print("cleaned up", flush=True)
"""


def told(seconds, raised="pass", after="in"):
    """The process was told to end after it had printed that word: code, output, complaints."""
    text = ENDS.format(seconds=seconds, raised=raised)
    with subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while process.stdout.readline().strip() != after:
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
    return process.returncode, out, err


def test_an_exception_that_a_destructor_drops_is_raised_again():
    code, out, err = told(1.0)
    assert (code, err) == (0, "")
    assert out.endswith("cleaned up\n")
    assert "went on" not in out


def test_what_else_a_destructor_drops_is_still_told():
    code, out, err = told(0.0, "raise ValueError('mine')", after="out")
    assert (code, out) == (0, "cleaned up\n")
    assert err.count("ValueError: mine") == 1
