"""Who a candidate is: the exact hash of what it says, and a hash of what remains without names.

The normalised fingerprint lets a search see that a rewrite changed nothing. It is a heuristic
on tokens, not a compiler: it may call equal things different, and, for names that no header we
know declares, rarely different things equal. The hash of the binary decides in the end.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kernelwright.candidates import words
from kernelwright.candidates.header import parse
from kernelwright.candidates.notation import notation
from kernelwright.candidates.text import stored_as_it_is, too_long
from kernelwright.errors import HeaderError, UsageError
from kernelwright.records.candidate import Candidate, Header, Value

_TOKEN = re.compile(
    r"""
    (?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))
  | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z))
  | (?P<text>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"?|(?:u8|[uUL])?'(?:\\.|[^'\\\n])*'?)
  | (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
  | (?P<name>[^\W\d]\w*)
  | (?P<joined>\\[ \t]*\r?\n)
  | (?P<newline>\n)
  | (?P<space>[^\S\n]+|\ufeff)
  | (?P<sign><<<|<<=|>=|->\*|->|\.\.\.|::|<=>|<<|[-+*/%&|^!=<]=|&&|\|\||\+\+|--|\#\#|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_STATEMENT = frozenset({
    "return", "else", "case", "throw", "new", "delete", "sizeof", "goto", "do", "typeid", "and",
    "or", "not", "co_return", "co_yield", "co_await", "operator", "if", "while", "for", "switch",
    "alignof", "decltype",
})  # fmt: skip
_AFTER_VARIABLE = frozenset(["=", ";", ",", ")", "[", "{", ":", ">", "+=", "__attribute__"])


class Token(NamedTuple):
    """One token of C-like text."""

    kind: str
    """``name``, ``number``, ``text``, ``sign`` or ``end`` (of a directive)."""
    text: str


def exact_id(language: str, source: str, tunables: Mapping[str, Value]) -> str:
    """First 16 hexadecimal digits of the hash of language, source and values."""
    return _hash([language, source, sorted(tunables.items())])


def normalised(language: str, source: str, tunables: Mapping[str, Value]) -> str:
    """Hash of what remains without comments, formatting and (in C-like text) names.

    Raises:
        UsageError: the language is not installed.
    """
    if notation(language).like_c:
        return _hash([language, *_without_names(list(tokens(source)), tunables)])
    try:
        text = ast.dump(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        text = source
    return _hash([language, text, sorted(tunables.items())])


def make_candidate(
    source: str,
    language: str,
    tunables: Mapping[str, Value] | None = None,
    *,
    author: str = "user",
    parents: tuple[str, ...] = (),
    origin: str = "",
) -> Candidate:
    """A candidate with its identity and header filled in.

    Args:
        source: the whole file.
        language: the name of one that is installed, for example ``cpp``.
        tunables: a value for each tunable of the header; None takes the first of each list,
            whatever the constraints say (choose a point of the space where there are any).
        author: the proposer that made it.
        parents: ids of the candidates it was made from.
        origin: the file it was read from, or how it was derived.

    Raises:
        HeaderError: the header is malformed, a tunable has no value, or ``tunables`` is None
            and one of them is a formula.
        UsageError: the language is not installed, or the source too long or no text.
    """
    if long := too_long(source):
        raise UsageError(long, "a kernel is a short text: leave out what it does not need")
    if not stored_as_it_is(source):
        raise UsageError("the source holds half a letter (a lone surrogate)", "write it as UTF-8")
    header = parse(source, language)
    values = _first_values(header) if tunables is None else dict(tunables)
    if values.keys() != header.tune.keys():
        wrong = sorted(values.keys() ^ header.tune.keys())
        raise HeaderError(f"tunables and values differ: {', '.join(wrong)}")
    return Candidate.model_validate(
        {
            "id": exact_id(language, source, values),
            "language": language,
            "source": source,
            "tunables": values,
            "strategy": header.strategy,
            "fingerprint": normalised(language, source, values),
            "parents": parents,
            "author": author,
            "origin": origin,
            "header": header,
        }
    )


def tokens(source: str) -> Iterator[Token]:
    """Tokens of C-like text without comments; ends of directives are kept, they mean something."""
    directive = False
    fresh = True
    last = ""
    defined = False
    for found in _TOKEN.finditer(source.replace("\r\n", "\n").replace("\r", "\n") + "\n"):
        kind, text = found.lastgroup or "", found[0]
        if kind == "newline":
            if directive:
                yield Token("end", "")
            directive, fresh = False, True
        elif kind not in ("comment", "joined", "space"):
            directive = directive or (fresh and text == "#")
            fresh = False
            # Only "#define F(" without a gap has parameters.
            glued = defined and text == "("
            yield Token("text" if kind in ("raw", "mark") else kind, "define(" if glued else text)
            defined = directive and last == "define"
            last = text
            continue
        defined = False


def _first_values(header: Header) -> dict[str, Value]:
    for name, listed in header.tune.items():
        if isinstance(listed, str):
            raise HeaderError(f"tunable {name!r} is a formula: its value needs the axes")
    return {name: listed[0] for name, listed in header.tune.items()}


def _without_names(stream: list[Token], tunables: Mapping[str, Value]) -> Iterator[object]:
    """The tokens, declared names replaced by numbers in order of appearance, then the values."""
    forgotten = _declared(stream) | set(tunables)
    numbers: dict[str, int] = {}
    for token in stream:
        if token.kind == "name" and token.text in forgotten:
            yield numbers.setdefault(token.text, len(numbers))
        else:
            yield token.text if token.kind != "end" else ["end"]
    yield sorted((numbers.get(name, -1), repr(value)) for name, value in tunables.items())


def _declared(stream: list[Token]) -> set[str]:
    """Names that the text itself introduces."""
    found: set[str] = set()
    closings = _closings(stream)
    depth = 0
    macro = False
    for at, token in enumerate(stream):
        macro = token.text == "define(" or (macro and token.text != ")")
        if macro and token.kind == "name":
            found.add(token.text)
        if token.text in ("(", "["):
            depth += 1
        elif token.text in (")", "]"):
            depth = max(0, depth - 1)
        if token.kind != "name" or token.text in found or words.is_known(token.text):
            continue
        before = stream[at - 1] if at else Token("end", "")
        after = stream[at + 1] if at + 1 < len(stream) else Token("end", "")
        if _introduces(before, after, depth, stream, closings.get(at + 1)):
            found.add(token.text)
    return found


def _introduces(
    before: Token, after: Token, depth: int, stream: list[Token], closing: int | None
) -> bool:
    """Whether the name between ``before`` and ``after`` is declared there."""
    if before.text in ("define", "struct", "class", "union", "enum", "namespace", "typename"):
        return True
    if before.text == "using":
        return after.text == "="
    typed = before.kind == "name" and before.text not in _STATEMENT
    pointed = before.text in ("*", "&", "&&", ">")
    if after.text == "(":
        return typed or (pointed and closing is not None and _has_body(stream, closing))
    if before.text == ",":
        return after.text == "=" or (depth == 0 and after.text in (";", ",", "["))
    return (typed or pointed) and after.text in _AFTER_VARIABLE


def _closings(stream: list[Token]) -> dict[int, int]:
    """Where the parenthesis that opens at a place is closed; those left open are not there."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for at, token in enumerate(stream):
        if token.text == "(":
            opened.append(at)
        elif token.text == ")" and opened:
            found[opened.pop()] = at
    return found


def _has_body(stream: list[Token], closing: int) -> bool:
    """Whether what follows a closing parenthesis makes its name that of a function."""
    following = [token.text for token in stream[closing + 1 : closing + 2]]
    return following in (["{"], ["const"], ["noexcept"], ["->"])


def _hash(parts: object) -> str:
    text = json.dumps(parts, separators=(",", ":"), default=list, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
