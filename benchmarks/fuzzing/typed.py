"""What somebody types: words of every command up to its request, and values of tunables."""

import random
from collections.abc import Sequence

import click

from benchmarks.fuzzing import making
from benchmarks.fuzzing.parser import Parser
from benchmarks.fuzzing.sources import HEADER
from kernelwright.cli import options
from kernelwright.settings import Settings
from kernelwright.testing.simulated import made_up_task
from kernelwright.verbs import entrants, setup, table

LINES = (
    "optimize softmax --minutes 2.5 --evaluations 30 --language cpp,torch --effort quick",
    "optimize softmax --start a.cpp --target 1.5 --threads 2 --seed 3 --dry-run --json",
    "evaluate softmax a.cpp --rung full --tune HELD=1024,FAST=False --baseline all",
    "compare a.cpp b.cpp --task softmax --rung full --seed 3",
    "audit latest --store runs.db",
    "runs resume latest --minutes 2",
    "runs export latest --json",
    "tasks check softmax --quiet",
    "config",
)
WORDS = (
    "--minutes",
    "--seed",
    "--rung",
    "--tune",
    "--threads",
    "--store",
    "--json",
    "nan",
    "inf",
    "-1",
    "1e999",
    "--",
    "-",
    "--minutes=",
    "2m",
    "3s",
    "1_0",
    "٣",
    "99999999999999999999",
    "A=",
    "=A",
    "HELD=",
    "HELD=99",
    "FAST=True",
    "a" * 300,
    "\0",
    "\ud800",
    "a.cpp",
)
TUNES = ("HELD=1024", "FAST=False", "NAME=b", "HALF=2")
TASK = made_up_task()
SETTINGS = Settings.load()


def typed(word: str) -> str:
    """The word as a process gets it: no zero byte, and what is no UTF-8 as lone surrogates."""
    told = word.replace("\0", "").encode("utf-8", "surrogatepass")
    return told.decode("utf-8", "surrogateescape")


def _line(chance: random.Random) -> list[str]:
    words = chance.choice(LINES).split(" ")
    for _ in range(chance.choice((0, 1, 2, 3))):
        at = chance.randrange(len(words) + 1)
        word = chance.choice(WORDS) if chance.random() < 0.8 else making.text(chance, LINES)
        words[at : at + chance.choice((0, 1))] = [word]
    return list(map(typed, words))


def _request(words: Sequence[str]) -> object:
    """As the command line does, up to the settings that hold; nothing is run."""
    name = " ".join(words[:2]) if words[:1] and words[0] in table.GROUPS else "".join(words[:1])
    try:
        verb = table.find(name)
    except KeyError as problem:
        raise click.UsageError("no such command") from problem
    module = verb.load()
    command = click.Command(
        verb.word, params=[*options.parameters(module.Request), *options.common()]
    )
    with command.make_context(verb.word, list(words[len(name.split()) :])) as context:
        given = {
            name: value
            for name, value in context.params.items()
            if name in module.Request.model_fields
        }
    return module.Request.of(**given).settings().budget_minutes()


def _tunes(chance: random.Random) -> tuple[str, ...]:
    count = chance.choice((1, 2, 3))
    return tuple(typed(making.text(chance, TUNES, WORDS)) for _ in range(count))


def _tuned(words: tuple[str, ...]) -> object:
    return setup.candidate(HEADER, TASK, SETTINGS, words)


PARSERS = (
    Parser("command line", _line, _request, (click.ClickException, click.exceptions.Exit)),
    Parser("values by --tune", _tunes, _tuned),
    Parser(
        "a file or a run",
        lambda chance: typed(making.text(chance, ("latest", "a.cpp", "./a"), WORDS)),
        entrants.must_name_a_run,
    ),
)
