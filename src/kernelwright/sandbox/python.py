"""What a Python program of the jail needs of this interpreter, and what it must not see of us.

The installed packages are there for candidates to use; this one is not: it holds the judge, and
the references of the built-in tasks.
"""

import site
import sys
import sysconfig
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def sites() -> tuple[Path, ...]:
    """Folders of installed packages."""
    found = (Path(name).resolve() for name in site.getsitepackages())
    return tuple(path for path in found if path.is_dir())


def of_base(kind: str) -> Path:
    """A folder of the interpreter itself, seen from a virtual environment too.

    Args:
        kind: as ``sysconfig`` calls it, for example ``stdlib``.
    """
    base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
    base |= {"installed_base": sys.base_prefix, "installed_platbase": sys.base_exec_prefix}
    return Path(sysconfig.get_path(kind, vars=base)).resolve()


@cache
def needed() -> tuple[Path, ...]:
    """The interpreter, its library, headers and packages, where the jail does not show them anyway.

    The framework's compiler starts the interpreter anew.
    """
    kinds = ("stdlib", "platstdlib", "include", "platinclude", "scripts")
    own = [of_base(kind) for kind in kinds]
    started = [Path(sys.executable).parent, Path(sys.prefix) / "pyvenv.cfg"]
    found = dict.fromkeys(path for path in (*own, *started, *sites()) if path.exists())
    inside = [path for path in found if path.parts[:2] != ("/", "usr")]
    return tuple(path for path in inside if not any(other in path.parents for other in inside))


@cache
def of_ours() -> list[str]:
    """This package and its traces among the installed ones, wherever they are."""
    traces = [
        entry for folder in sites() for entry in folder.iterdir() if "kernelwright" in entry.name
    ]
    return list(dict.fromkeys(map(str, (PACKAGE, *traces))))
