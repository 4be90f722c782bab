"""What a verb is in Python: its signature, and what a command of a hint is as a call."""

from collections.abc import Mapping
from contextlib import suppress
from inspect import Parameter, Signature, signature
from typing import Any

from kernelwright.errors import arguments_of
from kernelwright.records.validation import did_you_mean
from kernelwright.verbs import table
from kernelwright.verbs.base import Positional


def in_python(command: str) -> str:
    """The call that a command line stands for, or an empty text.

    Args:
        command: what follows ``kernelwright``, perhaps with words of a sentence behind it.
    """
    words = command.split()
    for name in (" ".join(words[:2]), *words[:1]):
        with suppress(KeyError):
            verb = table.find(name)
            fields = verb.load().Request.model_fields.values()
            needed = ["..."] if any(one.is_required() for one in fields) else []
            return f"{verb.function}({', '.join([*needed, *arguments_of(command)])})"
    return ""


def takes_a_task(module: Any) -> bool:
    """Whether the verb of that module can be given a task that is loaded already."""
    return "task" in signature(module.run).parameters


def signature_of(module: Any) -> Signature:
    """The signature of a verb's function: the fields of its request, positional ones as such."""
    found = []
    for name, field in module.Request.model_fields.items():
        positional = any(isinstance(mark, Positional) for mark in field.metadata)
        kind = Parameter.POSITIONAL_OR_KEYWORD if positional else Parameter.KEYWORD_ONLY
        default = Parameter.empty if field.is_required() else field.default
        found.append(Parameter(name, kind, default=default, annotation=field.annotation))
    if takes_a_task(module):
        found.append(Parameter("inputs", Parameter.KEYWORD_ONLY, default=None))
    return Signature(found, return_annotation=module.Answer)


def slip(verb: table.Verb, what: str, fields: Mapping[str, Any]) -> str:
    """What is wrong with a call, and which argument was probably meant.

    Args:
        verb: whose function was called.
        what: Python says of it.
        fields: its arguments by name.
    """
    known = list(signature_of(verb.load()).parameters)
    unknown = [name for name in fields if name not in known]
    meant = next(filter(None, (did_you_mean(name, known) for name in unknown)), "")
    told = f"{unknown[0]!r} is no argument" if unknown else what
    return f"{verb.function}(): {told}; {meant or 'it takes ' + ', '.join(known)}"
