"""Print every setting, its value and where the value came from.

Precedence: an argument or option, then the environment (KERNELWRIGHT_STORE and so on), then
kernelwright.toml or [tool.kernelwright] in pyproject.toml in the nearest folder, then the default.
"""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from kernelwright import settings
from kernelwright.report import text
from kernelwright.store.location import default_url
from kernelwright.verbs import base

IMPLIED: dict[str, Callable[[], str]] = {"store": default_url}
"""What an empty value stands for."""


class Request(base.Request):
    """Nothing to choose."""


class Row(BaseModel):
    """One setting."""

    name: str
    value: Any
    source: str
    description: str


class Answer(base.ListAnswer):
    """Every setting."""

    settings: tuple[Row, ...]
    slips: tuple[str, ...] = ()
    """Environment variables with our prefix that set nothing."""

    def rows(self) -> tuple[Row, ...]:
        """One object a setting."""
        return self.settings

    def text(self) -> str:
        """A table."""
        return text.table(
            ("setting", "value", "source"),
            [(row.name, _shown(row.value), row.source) for row in self.settings],
        )

    def notes(self) -> list[str]:
        """Slips in the environment."""
        return [f"hint: {name} is not a setting and is ignored" for name in self.slips]


def run(request: Request, *, observer: object = None) -> Answer:
    """Resolve the settings that hold here."""
    fields = settings.Settings.model_fields
    rows = tuple(
        Row(
            name=one.name,
            value=base.plain(one.value) if one.value != "" else IMPLIED.get(one.name, str)(),
            source=one.source,
            description=fields[one.name].description or "",
        )
        for one in settings.explain()
    )
    return Answer(settings=rows, slips=tuple(settings.unknown_variables()))


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
