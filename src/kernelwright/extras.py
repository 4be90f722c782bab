"""Packages that only some users want, and the commands that add one.

Refuses to look at what is installed: whoever misses a package says so.
"""

EXTRAS = {"torch": "torch", "pyarrow": "parquet", "psycopg": "postgres"}
"""The extra of this package by the package that it brings."""


def how_to_add(package: str) -> str:
    """What to type to have a package, in a checkout and where kernelwright is installed."""
    extra = EXTRAS.get(package)
    if extra is None:
        return f"pip install {package}"
    return f"scripts/setup --{extra} in a checkout, else pip install 'kernelwright[{extra}]'"
