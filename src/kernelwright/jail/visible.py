"""What may be seen when some of it must not be; the standard library only."""

# pathlib takes longer to import than all of this to run.
# ruff: noqa: PTH112, PTH208

import os


def around(visible: list[str], hidden: list[str]) -> tuple[list[str], list[str]]:
    """``visible`` without ``hidden``: paths to open up, and folders to list only.

    Rules of Landlock hold for all that lies below a path, so a folder with something to hide is
    opened up entry by entry. The names of hidden entries can still be listed.
    """
    opened: list[str] = []
    listed: list[str] = []
    waiting, seen = list(visible), set(hidden)
    while waiting:
        path = os.path.realpath(waiting.pop())
        if path in seen:
            continue
        seen.add(path)
        if any(one.startswith(path + "/") for one in hidden) and os.path.isdir(path):
            listed.append(path)
            waiting += [f"{path}/{name}" for name in _names(path)]
        else:
            opened.append(path)
    return opened, listed


def _names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except OSError:  # closed to the user that we are by now
        return []
