"""A command group that knows names and one-line summaries, and loads a verb when it is invoked."""

import difflib
import inspect
from collections.abc import Callable
from typing import Any

import click

from kernelwright.verbs import table

Invoke = Callable[[table.Verb, dict[str, Any]], Any]


class VerbGroup(click.Group):
    """The root, or a verb's first word; its listing imports nothing."""

    def __init__(self, prefix: str, invoke: Invoke, **settings: Any) -> None:
        super().__init__(**settings)
        self._prefix = prefix
        self._invoke = invoke

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The words that may follow, in the order of the table."""
        return list(self._summaries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that word; this is where a verb is imported."""
        if cmd_name not in self._summaries():
            return None
        if not self._prefix and cmd_name in table.GROUPS:
            return VerbGroup(
                cmd_name, self._invoke, name=cmd_name, help=_sentence(table.GROUPS[cmd_name])
            )
        return _command(table.find(f"{self._prefix} {cmd_name}".strip()), self._invoke)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with our words for a name that is unknown."""
        known = self._summaries()
        if args and args[0] not in known and not args[0].startswith("-"):
            wrong = args[0]
            close = difflib.get_close_matches(wrong, known, n=1)
            path = f"kernelwright {self._prefix}".strip()
            hint = f"did you mean {close[0]!r}?" if close else f"{path} --help lists what there is"
            what = f"{self._prefix} {wrong}".strip()
            raise UnknownVerbError(f"unknown command {what!r}", hint)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the words with their summaries, loading none."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._summaries().items()))

    def _summaries(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for verb in table.VERBS:
            if self._prefix:
                if verb.group == self._prefix:
                    found[verb.word] = verb.summary
            elif verb.group:
                words = "|".join(one.word for one in table.VERBS if one.group == verb.group)
                found[verb.group] = f"{words}: {table.GROUPS[verb.group]}"
            else:
                found[verb.name] = verb.summary
        return found


class UnknownVerbError(click.UsageError):
    """A word that is no verb."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def _command(verb: table.Verb, invoke: Invoke) -> click.Command:
    from kernelwright.cli import options

    module = verb.load()
    help_text = inspect.cleandoc(module.__doc__ or verb.summary)
    return click.Command(
        verb.word,
        params=[*options.parameters(module.Request), *options.common()],
        callback=lambda **values: invoke(verb, values),
        help=help_text,
        short_help=verb.summary,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
