"""Run the commands of a build, confined: source text is hostile to whoever compiles it.

Started as ``python -I -S build.py JOB SPEC``; ``JOB`` is a JSON list of commands that are run in
the working folder, in order, until one fails. What they print is left to the parent, which also
keeps the deadline. Exit codes: 0, or 10 plus the place of the command that failed.
"""

# pathlib and subprocess take longer to import than all of this to run.
# ruff: noqa: PTH100, PTH120

import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import confine  # type: ignore[import-not-found]

FAILED = 10


def main() -> int:
    """Confine this process, then run the commands."""
    commands = json.loads(sys.argv[1])
    confine.apply(json.loads(sys.argv[2]))
    for place, command in enumerate(commands):
        try:
            child = os.posix_spawn(command[0], command, dict(os.environ))
        except OSError as problem:
            os.write(2, f"error: cannot start {command[0]}: {problem.strerror}\n".encode())
            return FAILED + place
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            os.write(2, f"error: the compiler was ended by signal {os.WTERMSIG(status)}\n".encode())
        if status:
            return FAILED + place
    return 0


if __name__ == "__main__":
    # Nothing is left to clean up: the folder belongs to the parent.
    os._exit(main())
