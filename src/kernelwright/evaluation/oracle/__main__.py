"""Started as ``python -I -m kernelwright.evaluation.oracle DESCRIPTOR``; serves one client."""

import ctypes
import faulthandler
import os
import resource
import signal
import sys
import threading
import time
import warnings

from kernelwright.evaluation.channel import Channel, ChannelError
from kernelwright.evaluation.oracle.fault import Fault
from kernelwright.evaluation.oracle.session import Session

PR_SET_DUMPABLE = 4


def harden() -> None:
    """Close this process's memory to others of the same user, and leave no core file."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def watch_parent() -> None:
    """End with the client, even in the middle of the user's code."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    """Answer requests until the client closes."""
    harden()
    watch_parent()
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)  # the client asks where a hanging reference is
    warnings.simplefilter("ignore")
    channel = Channel.from_fd(int(sys.argv[1]))
    session = Session()
    channel.send({"ok": True})
    while True:
        try:
            request, descriptors = channel.receive()
        except ChannelError:
            return
        try:
            answer = {"ok": True} | session.answer(request, descriptors)
        except Fault as fault:
            answer = fault.answer()
        except MemoryError:
            answer = {"error": "not enough memory to run the reference", "kind": "raises"}
        sys.stdout.flush()
        channel.send(answer)


if __name__ == "__main__":
    main()
