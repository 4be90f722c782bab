"""Started as ``python -I -m kernelwright.evaluation.oracle CHANNEL LIFELINE``; serves a client."""

import contextlib
import faulthandler
import os
import resource
import signal
import sys
import traceback
import warnings
from typing import Any

from kernelwright.evaluation.oracle.guard import guard


def answer(session: Any, request: dict[str, Any], descriptors: list[int]) -> dict[str, Any]:
    """The answer to one request, be it a fault of the reference."""
    from kernelwright.evaluation.oracle.fault import Fault

    try:
        found: dict[str, Any] = session.answer(request, descriptors)
        return {"ok": True} | found
    except Fault as fault:
        return fault.answer()
    except MemoryError:
        return {"error": "not enough memory to run the reference", "kind": "memory"}


def serve(descriptor: int) -> None:
    """Answer requests until the client closes."""
    from kernelwright.evaluation.channel import Channel, ChannelError
    from kernelwright.evaluation.guarded import BROKE, CUT_OFF
    from kernelwright.evaluation.oracle.belongings import Belongings
    from kernelwright.evaluation.oracle.session import Session

    channel, session = Channel.from_fd(descriptor), Session()
    own = Belongings(descriptor)
    channel.send({"ok": True})
    while True:
        try:
            request, descriptors = channel.receive()
        except ChannelError:
            return
        broken = ""
        try:
            found = answer(session, request, descriptors)
        except Exception:  # noqa: BLE001 - whose fault it is follows
            broken = traceback.format_exc()
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
        if own.cut_off():
            os._exit(CUT_OFF)
        if missing := own.missing():
            found = missing.answer()
        elif broken:
            sys.stderr.write(broken)
            sys.stderr.flush()
            os._exit(BROKE)
        channel.reply(request, found)


def main() -> None:
    """Guard a process that serves one client."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    guard(int(sys.argv[2]))
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)  # the client asks where a hanging reference is
    warnings.simplefilter("ignore")
    serve(int(sys.argv[1]))


if __name__ == "__main__":
    main()
