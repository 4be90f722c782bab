"""Small arithmetic over named values: shapes, derived axes, tunables and constraints.

An expression is parsed with :mod:`ast` and evaluated by hand, so text from a task or a
candidate never reaches ``eval``. Sizes are bounded: no text can make it run long.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

Number = int | float
MAX_LENGTH = 500
MAX_BITS = 256


class ExpressionError(ValueError):
    """The text is not an expression we evaluate, or a name in it has no value."""


def next_pow2(value: Number) -> int:
    """Smallest power of two that is at least ``value`` (1 for values below 1)."""
    return 1 << max(0, int(value) - 1).bit_length() if value > 1 else 1


def cdiv(numerator: int, denominator: int) -> int:
    """Ceiling of the quotient of two integers."""
    return -(-numerator // denominator)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "next_pow2": next_pow2,
    "cdiv": cdiv,
}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}


def evaluate(text: str | int, values: Mapping[str, Number]) -> Number:
    """Value of ``text`` where names stand for ``values``.

    Args:
        text: an integer, or an expression over names, numbers, ``+ - * / // % **``,
            comparisons, ``and or not``, ``min max abs next_pow2 cdiv``.
        values: what each name stands for.

    Raises:
        ExpressionError: the text is malformed, names something unknown or divides by zero.
    """
    if isinstance(text, int):
        return text
    try:
        result = _value(parse(text), values)
    except (ArithmeticError, TypeError, RecursionError) as problem:
        raise ExpressionError(f"cannot evaluate {text!r}: {problem}") from problem
    if isinstance(result, bool):
        return int(result)
    if not isinstance(result, int | float):
        raise ExpressionError(f"{text!r} is not a number")
    return result


def evaluate_int(text: str | int, values: Mapping[str, Number]) -> int:
    """Like :func:`evaluate`, for a result that must be a whole number."""
    result = evaluate(text, values)
    if isinstance(result, float) and not result.is_integer():  # infinities are not either
        raise ExpressionError(f"{text!r} is {result}, not a whole number")
    return int(result)


def names(text: str | int) -> set[str]:
    """The names an expression mentions, functions excluded."""
    if isinstance(text, int):
        return set()
    found = {node.id for node in ast.walk(parse(text)) if isinstance(node, ast.Name)}
    return found - set(_FUNCTIONS)


@lru_cache(maxsize=4096)
def parse(text: str) -> ast.expr:
    """Parse once; the tree of an expression.

    Raises:
        ExpressionError: not an expression, or longer than 500 characters.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an expression of more than {MAX_LENGTH} characters")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise ExpressionError(f"{text!r} is not an expression") from problem


def _value(node: ast.expr, values: Mapping[str, Number]) -> Any:
    match node:
        case ast.Constant(value=value) if isinstance(value, int | float):
            return value
        case ast.Name(id=name):
            if name not in values:
                raise ExpressionError(f"{name!r} has no value here")
            return values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _bounded(op, _value(left, values), _value(right, values))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand, values))
        case ast.BoolOp(op=op, values=parts):
            results = (_value(part, values) for part in parts)
            return all(results) if isinstance(op, ast.And) else any(results)
        case ast.Compare(left=left, ops=ops, comparators=rights):
            return _chain(_value(left, values), ops, [_value(right, values) for right in rights])
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(arg, values) for arg in args))
        case _:
            raise ExpressionError(f"{ast.unparse(node)!r} is not allowed in an expression")


def _bounded(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(op, ast.Pow):
        size = abs(left).bit_length() if isinstance(left, int) else 64
        if not isinstance(right, int) or not 0 <= right <= MAX_BITS or size * right > MAX_BITS:
            raise ExpressionError("a power too large to compute")
    result = _BINARY[type(op)](left, right)
    if isinstance(result, int) and result.bit_length() > MAX_BITS:
        raise ExpressionError("a number too large to compute")
    return result


def _chain(left: Any, ops: list[ast.cmpop], rights: list[Any]) -> bool:
    for op, right in zip(ops, rights, strict=True):
        compare = _COMPARE.get(type(op))
        if compare is None:
            raise ExpressionError("only == != < <= > >= compare in an expression")
        if not compare(left, right):
            return False
        left = right
    return True
