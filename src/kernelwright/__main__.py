"""The command line's first step: whoever presses Ctrl-C while it is being imported is answered too.

Nothing but the standard library's smallest part is imported before that.
"""

import sys


def main() -> int:
    """Import the command line and run it; its exit code."""
    try:
        from kernelwright.cli.main import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: nothing was begun\n")
        return 130
    return run()


if __name__ == "__main__":
    raise SystemExit(main())
