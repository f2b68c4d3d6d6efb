"""What the guard's dialects share: calls that are built of their arguments, and written as read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.generator import Generator

Builder = Callable[[list[Any]], exp.Expr]
Writer = Callable[[Any, Any], str]


def fill(args: list[Any], count: int) -> tuple[Any, ...]:
    """``count`` arguments, None for those that are not given. Raises ParseError for more."""
    if len(args) > count:
        raise ParseError(f"A call has more than {count} arguments.")
    return (*args, *[None] * (count - len(args)))


def build_pad(*, is_left: bool) -> Builder:
    """Builds ``lpad`` or ``rpad`` with the arguments that are given."""

    def build(args: list[Any]) -> exp.Expr:
        text, length, pattern = fill(args, 3)
        return exp.Pad(this=text, expression=length, fill_pattern=pattern, is_left=is_left)

    return build


def enclose_call(node: exp.Expr | None) -> exp.Expr | None:
    """A call in parentheses, before a subscript: sqlglot takes ``list(x)[1]`` for a list of 1.

    >>> enclose_call(exp.Anonymous(this="list")).sql(), enclose_call(exp.column("list")).sql()
    ('(LIST())', 'list')
    """
    is_constructor = isinstance(node, exp.Func) and node.name.lower() in ("array", "list")
    return exp.Paren(this=node) if is_constructor or isinstance(node, exp.Array) else node


def write_infix(operator: str) -> Writer:
    """Writes a binary node with the operator between its operands."""

    def write(generator: Generator, node: exp.Binary) -> str:
        return generator.binary(node, operator)

    return write


def write_call(name: str, *keys: str) -> Writer:
    """Writes a node as the call of ``name`` with those of its arguments that are there."""

    def write(generator: Generator, node: exp.Expr) -> str:
        return generator.func(
            name, *(node.args[key] for key in keys if node.args.get(key) is not None)
        )

    return write
