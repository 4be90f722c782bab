"""Every setting, and where its value came from.

Precedence: an argument (Python or command line) > the environment (``KERNELWRIGHT_STORE``) >
``kernelwright.toml`` or ``[tool.kernelwright]`` in ``pyproject.toml``, nearest folder upwards >
the default. What decides a run is copied into the run, so changing a setting later changes
nothing that was stored.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from kernelwright import toml
from kernelwright.errors import UsageError
from kernelwright.records.run import Architecture, Counted, Effort, Minutes, Seed
from kernelwright.records.validation import did_you_mean, should_be

PREFIX = "KERNELWRIGHT_"
MINUTES: Mapping[str, float] = {"quick": 0.75, "normal": 3.0, "thorough": 15.0}
"""Wall time by effort, where no budget is given."""
ELSEWHERE = ("DEBUG", "HOME")
"""Variables of ours that are read elsewhere: by the command line, and by the store."""


def _split(value: object) -> object:
    return tuple(filter(None, re.split(r"[,\s]+", value))) if isinstance(value, str) else value


def _cache_home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kernelwright"


Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]
"""Words separated by commas."""


class Settings(BaseSettings):
    """Values that any verb may need."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="forbid", frozen=True, allow_inf_nan=False
    )

    device: str = Field("auto", description="where kernels run: auto or cpu")
    language: Words = Field(("cpp",), description="languages in which kernels are written")
    proposer: Words = Field(("experts", "tune"), description="who proposes candidates")
    parents: str = Field("greedy", description="how the next parent is chosen")
    effort: Effort = Field("normal", description="one dial: quick, normal or thorough")
    minutes: Minutes | None = Field(None, description="most wall time of a run, in minutes")
    evaluations: Counted | None = Field(None, ge=1, description="most looks at candidates")
    executor: str = Field("local", description="where candidates are judged")
    compiler: str = Field("", description="C++ compiler: g++ or clang++; empty: first found")
    cuda_arch: Architecture = Field("", description="GPU to build for, as sm_90a; empty: this one")
    threads: Counted = Field(0, description="threads of a kernel; 0: every core")
    sandbox: Literal["auto", "require", "off"] = Field(
        "auto", description="isolation of candidates: auto, require or off"
    )
    seed: Seed = Field(0, description="seed of the search; the judge draws its own secrets")
    store: str = Field("", description="file or URL that keeps every run; empty: the user's own")
    cache: Path = Field(
        default_factory=_cache_home, description="folder of built kernels and peaks"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, the environment, the nearest file; nothing else."""
        found = find_file(Path.cwd())
        table = found.anchored() if found else {}
        return init_settings, env_settings, InitSettingsSource(settings_cls, init_kwargs=table)

    @property
    def cores(self) -> int:
        """Threads of a kernel, counted."""
        return self.threads or len(os.sched_getaffinity(0))

    def budget_minutes(self) -> float | None:
        """Wall time of a run: what was given, else what the effort stands for.

        A number of evaluations given alone is the whole budget.
        """
        if self.minutes is not None or self.evaluations is not None:
            return self.minutes
        return MINUTES[self.effort]

    @classmethod
    def load(cls, given: Mapping[str, Any] | None = None) -> Self:
        """The settings that hold here.

        Args:
            given: explicit arguments; a value of None counts as not given.

        Raises:
            UsageError: a value is wrong, or the file cannot be read; says where.
        """
        chosen = {name: value for name, value in (given or {}).items() if value is not None}
        try:
            return cls(**chosen)
        except ValidationError as problem:
            raise _explained(problem, chosen) from problem


class SettingsFile(NamedTuple):
    """One file with settings."""

    path: Path
    text: str
    values: dict[str, Any]

    def anchored(self) -> dict[str, Any]:
        """The values, paths taken from the file's own folder."""
        changed = {
            name: str(self.path.parent / self._expanded(name, value))
            for name, value in self.values.items()
            if name in ("store", "cache") and isinstance(value, str) and "://" not in value
        }
        return self.values | changed

    def _expanded(self, name: str, value: str) -> Path:
        try:
            return Path(value).expanduser()
        except RuntimeError as problem:  # ~somebody who is nobody here
            raise UsageError(
                f"{self.path}:{self.line(name)}: {name} = {value!r} is no place: {problem}"
            ) from problem

    def line(self, name: str) -> int:
        """Line on which a setting is written (1 when it cannot be told)."""
        pattern = re.compile(rf"""\s*(?:tool\.kernelwright\.)?["']?{re.escape(name)}["']?\s*=""")
        inside = self.path.name != "pyproject.toml"
        for number, line in enumerate(self.text.splitlines(), start=1):
            if line.lstrip().startswith("["):
                inside = self.path.name != "pyproject.toml" or "tool.kernelwright" in line
            elif inside and pattern.match(line):
                return number
        return 1


class Setting(NamedTuple):
    """One setting and where its value came from."""

    name: str
    value: Any
    source: str


def find_file(folder: Path) -> SettingsFile | None:
    """The nearest file with settings, in ``folder`` or above it.

    Raises:
        UsageError: the file is not TOML, or its table is not a table.
    """
    for place in (folder, *folder.parents):
        own = place / "kernelwright.toml"
        if own.exists() and not own.is_dir():
            text, values = _parsed(own)
            return SettingsFile(own, text, values)
        shared = place / "pyproject.toml"
        if shared.exists() and not shared.is_dir():
            text, values = _parsed(shared)
            tools = values.get("tool", {})
            table = tools.get("kernelwright") if isinstance(tools, dict) else None
            if table is not None:
                if not isinstance(table, dict):
                    raise UsageError(f"{shared}: tool.kernelwright is not a table")
                return SettingsFile(shared, text, table)
    return None


def explain(given: Mapping[str, Any] | None = None) -> list[Setting]:
    """Every setting with its source.

    Raises:
        UsageError: as :meth:`Settings.load`.
    """
    chosen = {name: value for name, value in (given or {}).items() if value is not None}
    settings = Settings.load(chosen)
    found = find_file(Path.cwd())
    from_environment = set(EnvSettingsSource(Settings)())

    def source(name: str) -> str:
        if name in chosen:
            return "argument"
        if name in from_environment:
            return f"environment {PREFIX}{name.upper()}"
        if found and name in found.values:
            return f"{found.path}:{found.line(name)}"
        return "default"

    return [Setting(name, getattr(settings, name), source(name)) for name in Settings.model_fields]


def unknown_variables() -> list[str]:
    """Variables with our prefix that set nothing: probably slips."""
    known = {PREFIX + name.upper() for name in Settings.model_fields} | {
        PREFIX + name for name in ELSEWHERE
    }
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)


def _parsed(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        if not path.is_file():  # a pipe could keep who reads it for ever
            raise OSError("it is not a regular file")
        return (text := path.read_text(encoding="utf-8")), toml.loads(text)
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or problem
        raise UsageError(f"{path}: cannot be read: {why}") from problem
    except toml.TomlError as problem:
        where = f":{problem.line}:{problem.column}" if problem.line else ""
        hint = problem.hint or "mend or remove the file"
        raise UsageError(f"{path}{where}: not TOML: {problem.what}", hint=hint) from problem


def _explained(problem: ValidationError, given: Mapping[str, Any]) -> UsageError:
    first = problem.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else ""
    found = find_file(Path.cwd())
    place = ""
    if name in given:
        place = ""
    elif PREFIX + name.upper() in os.environ:
        place = f"environment {PREFIX}{name.upper()}: "
    elif found and name in found.values:
        place = f"{found.path}:{found.line(name)}: "
    if first["type"] == "extra_forbidden":
        meant = did_you_mean(name, list(Settings.model_fields))
        hint = meant or "kernelwright config lists every setting"
        return UsageError(f"{place}unknown setting {name!r}", hint=hint)
    wrong = f"{place}{name} = {first['input']!r} is wrong"
    what = should_be(first)
    return UsageError(f"{wrong}: {'it ' if what.startswith('must') else ''}{what}")
