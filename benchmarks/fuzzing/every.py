"""Every parser of untrusted input; a new one is added to the file of its kind."""

from benchmarks.fuzzing import answers, sources, stored, tasks, typed
from benchmarks.fuzzing.parser import Parser

PARSERS: tuple[Parser, ...] = (
    *sources.PARSERS,
    *tasks.PARSERS,
    *answers.PARSERS,
    *stored.PARSERS,
    *typed.PARSERS,
)
