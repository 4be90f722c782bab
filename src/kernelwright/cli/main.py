"""The entry point: parse, call the verb, print, and turn every ending into an exit code.

Data goes to standard output; errors, hints and progress go to standard error. Only a fault of
ours has a traceback, and only when it is asked for.
"""

import contextlib
import difflib
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from kernelwright import __version__
from kernelwright.cli import output
from kernelwright.cli.group import VerbGroup
from kernelwright.errors import KernelwrightError, UserError, scarce
from kernelwright.verbs.table import Verb

INTERRUPTED = 130
_PLAIN = {"a valid integer": "a whole number", "a valid float": "a number"}
"""Words of click that only programmers know."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code.

    Args:
        arguments: words after the program's name, by default those of the process.
    """
    output.prepare()
    words = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in words
    debug = "--debug" in words or os.environ.get("KERNELWRIGHT_DEBUG", "") not in ("", "0")
    try:
        code = _guarded(words, as_json, debug)
        output.settle()
        return code
    except BrokenPipeError:
        output.abandon(sys.stdout)
        return 0
    except UserError as problem:
        fail(problem.message, problem.hint, as_json=False)
        return problem.exit_code


def _guarded(words: list[str], as_json: bool, debug: bool) -> int:
    try:
        # Click would end the process on a broken pipe: nothing is printed inside it.
        answer = root().main(words, prog_name="kernelwright", standalone_mode=False)
        return answer if isinstance(answer, int) else _print(answer, as_json)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.exceptions.NoArgsIsHelpError as problem:
        output.aside(problem.message)
        return problem.exit_code
    except click.ClickException as problem:
        message, hint = _click_words(problem)
        fail(message, hint, as_json)
        return problem.exit_code
    except (KeyboardInterrupt, click.Abort) as ending:
        fail("interrupted", _how_to_go_on(ending), as_json)
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except UserError as problem:
        fail(problem.message, problem.hint, as_json)
        return problem.exit_code
    except KernelwrightError as problem:
        if debug:
            raise
        fail(problem.message, problem.hint or "--debug shows the traceback", as_json)
        return problem.exit_code
    except Exception as problem:
        if scarce(problem):  # a verb's has been explained by now: this one is about the help
            told = output.unwritable(problem)
            fail(told.message, told.hint, as_json=False)
            return told.exit_code
        if debug:
            raise
        what = f"{type(problem).__name__}: {problem}".removesuffix(": ")
        fail(what, "this is a fault of kernelwright; --debug shows the traceback", as_json)
        return 1


def _how_to_go_on(ending: BaseException) -> str:
    """What the verb said when it was interrupted; click has put its own ending around that."""
    said = str(ending) or str(ending.__cause__ or "")
    return said or "nothing was begun that could be resumed, and nothing is lost: start it again"


def root() -> VerbGroup:
    """The whole command line; imports no verb."""
    group = VerbGroup(
        "",
        _invoke,
        name="kernelwright",
        help="Search for faster kernels, and believe a speedup only after checking it.",
        epilog="Exit codes: 0 done, 1 our fault, 2 usage or something to install, "
        "3 the answer is no, 4 a budget ended first, 130 interrupted.",
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    version = click.version_option(
        __version__, prog_name="kernelwright", message="%(prog)s %(version)s"
    )
    return version(group)


def _invoke(verb: Verb, values: dict[str, Any]) -> Any:
    from kernelwright.cli.progress import watching

    del values["as_json"]
    debug, quiet = values.pop("debug"), values.pop("quiet")
    module = verb.load()
    given = {name: value for name, value in values.items() if value not in (None, ())}
    request = module.Request.of(**given)
    try:
        with watching(sys.stderr, debug=debug, quiet=quiet) as observer:
            return module.run(request, observer=observer)
    except (OSError, MemoryError) as problem:
        lacking = scarce(problem)
        if lacking is None:
            raise
        raise lacking from problem


def _print(answer: Any, as_json: bool) -> int:
    text = answer.to_json() if as_json else answer.text()
    if text:
        output.data(text)
    for line in () if as_json else answer.notes():
        output.aside(line)
    code: int = answer.exit_code()
    return code


def fail(message: str, hint: str, as_json: bool) -> None:
    """Say what went wrong on standard error; with ``--json`` on standard output too."""
    colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    word = click.style("error:", fg="red", bold=True) if colour else "error:"
    output.aside(f"{word} {message}", colour=colour)
    for line in filter(None, hint.splitlines()):
        output.aside(f"hint: {line}", colour=colour)
    if as_json:
        with contextlib.suppress(UserError):
            output.data(json.dumps({"error": message, "hint": hint}))


def _click_words(problem: click.ClickException) -> tuple[str, str]:
    hint = getattr(problem, "hint", "")
    message = problem.format_message().rstrip(".")
    for theirs, ours in _PLAIN.items():
        message = message.replace(theirs, ours)
    if isinstance(problem, click.NoSuchOption):
        message = f"unknown option {problem.option_name!r}"
        known = problem.ctx.command.params if problem.ctx else []
        options = [word for parameter in known for word in parameter.opts]
        close = difflib.get_close_matches(problem.option_name, options, n=1)
        hint = f"did you mean {close[0]!r}?" if close else ""
    if not hint and isinstance(problem, click.UsageError) and problem.ctx is not None:
        hint = f"{problem.ctx.command_path} --help shows how it is used"
    return message[:1].lower() + message[1:], hint
