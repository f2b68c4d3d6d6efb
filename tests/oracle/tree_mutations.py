"""Queries changed in PostgreSQL's own parse tree, and written again by its own deparser.

What comes out is syntax of PostgreSQL's, however strange, so that few texts are lost to the first
parser: subtrees take one another's place, sources get other names and lists of names, column
references gain and lose qualifiers, functions get one another's names, flags and enumerations other
values, and whole queries go into FROM, WITH and LATERAL. The deparser is C, and may end the process
over a tree that no text has: ``tree_batches.py`` runs this in one of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import postgast
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from tests.oracle.grammar.dialect import load_dialect

_SOURCES = frozenset({"range_var", "range_subselect", "range_function", "join_expr"})
_EXPRESSIONS = frozenset(
    "column_ref a_const func_call a_expr sub_link case_expr type_cast coalesce_expr min_max_expr "
    "null_test boolean_test bool_expr row_expr a_array_expr a_indirection collate_clause "
    "sqlvalue_function grouping_func".split()
)
_DANGEROUS = 0.5
_PLACES = ("location", "stmt_location", "stmt_len")
_FIXED_FLAGS = frozenset({"inh", "is_rowsfrom", "argisrow", "isnull", "boolval", "agg_star"})
# Enumerations whose values may take one another's place in a tree that is to be written.
_ENUMS = {
    "BoolTestType": "IS_",
    "CTEMaterialize": "CTEMaterialize",
    "JoinType": ("JOIN_INNER", "JOIN_LEFT", "JOIN_FULL", "JOIN_RIGHT"),
    "MinMaxOp": "IS_",
    "NullTestType": "IS_",
    "SQLValueFunctionOp": "SVFOP_CURRENT_",
    "SetOperation": ("SETOP_UNION", "SETOP_INTERSECT", "SETOP_EXCEPT"),
    "SortByDir": ("SORTBY_DEFAULT", "SORTBY_ASC", "SORTBY_DESC"),
    "SortByNulls": "SORTBY_NULLS_",
}


def mutate_tree(
    statement: str, others: Sequence[str], rng: random.Random, names: Sequence[str]
) -> str:
    """The statement with one to three changes; empty where it cannot be read or written."""
    try:
        tree = postgast.parse(statement)
        for _ in range(rng.choice((1, 1, 2, 3))):
            rule = rng.choices([rule for rule, _ in _RULES], [weight for _, weight in _RULES])[0]
            rule(tree, _Donor(others, rng), rng, names)
        return str(postgast.deparse(tree))
    except (postgast.PgQueryError, DecodeError, RecursionError):
        return ""


class _Donor:
    """Gives random parts of other statements."""

    def __init__(self, statements: Sequence[str], rng: random.Random) -> None:
        self._statements = statements
        self._rng = rng

    def give(self, kinds: frozenset[str]) -> Any | None:
        """A node of one of these kinds, or None."""
        tree = postgast.parse(self._rng.choice(self._statements))
        nodes = [node for node in _walk(tree) if _find_kind(node) in kinds]
        return self._rng.choice(nodes) if nodes else None


def _swap_nodes(tree: Any, donor: _Donor, rng: random.Random, names: Sequence[str]) -> None:
    kinds = rng.choice((_EXPRESSIONS, _EXPRESSIONS, _SOURCES, frozenset({"select_stmt"})))
    places = [node for node in _walk(tree) if _find_kind(node) in kinds]
    part = donor.give(kinds)
    if places and part is not None:
        rng.choice(places).CopyFrom(part)


def _swap_within(tree: Any, donor: _Donor, rng: random.Random, names: Sequence[str]) -> None:
    """A column reference of the query in the place of another expression of it."""
    columns = [node for node in _walk(tree) if _find_kind(node) == "column_ref"]
    places = [node for node in _walk(tree) if _find_kind(node) in _EXPRESSIONS]
    if columns and places:
        copy = postgast.pg_query_pb2.Node()
        copy.CopyFrom(rng.choice(columns))
        rng.choice(places).CopyFrom(copy)


def _rename_source(tree: Any, donor: _Donor, rng: random.Random, names: Sequence[str]) -> None:
    aliases = [node for node in _walk_messages(tree) if type(node).__name__ == "Alias"]
    if not aliases:
        return
    alias = rng.choice(aliases)
    old, alias.aliasname = alias.aliasname, _draw_name(rng, names)
    if rng.random() < 0.7:
        for node in _walk(tree):
            fields = list(node.column_ref.fields) if _find_kind(node) == "column_ref" else []
            if len(fields) > 1 and fields[0].string.sval == old:
                fields[0].string.sval = alias.aliasname


def _rename_columns(tree: Any, donor: _Donor, rng: random.Random, names: Sequence[str]) -> None:
    """A list of names for a source, or another one; what names the old columns stays."""
    sources = [node for node in _walk(tree) if _find_kind(node) in _SOURCES]
    if not sources:
        return
    chosen = rng.choice(sources)
    source = getattr(chosen, str(_find_kind(chosen)))
    if not source.alias.aliasname:
        named = source.relname if _find_kind(chosen) == "range_var" else ""
        source.alias.aliasname = named or _draw_name(rng, names)
    del source.alias.colnames[:]
    for name in {_draw_name(rng, names) for _ in range(rng.randint(1, 3))}:
        source.alias.colnames.add().string.sval = name


def _requalify(tree: Any, donor: _Donor, rng: random.Random, names: Sequence[str]) -> None:
    """A column under another source's name, under none, or a source with another name behind it."""
    columns = [node.column_ref for node in _walk(tree) if _find_kind(node) == "column_ref"]
    aliases = [
        node.aliasname for node in _walk_messages(tree) if type(node).__name__ == "Alias"
    ] + [node.relname for node in _walk_messages(tree) if type(node).__name__ == "RangeVar"]
    if not columns or not aliases:
        return
    column, alias = rng.choice(columns), rng.choice(aliases)
    last = column.fields[-1].string.sval or "name"
    forms = ([last], [alias, last], [alias, alias], [alias, _draw_name(rng, names)], [alias])
    del column.fields[:]
    for part in rng.choice(forms):
        column.fields.add().string.sval = part


def _rename_function(tree: Any, donor: _Donor, rng: random.Random, names: Sequence[str]) -> None:
    calls = [node.func_call for node in _walk(tree) if _find_kind(node) == "func_call"]
    other = donor.give(frozenset({"func_call"}))
    if calls and other is not None:
        call = rng.choice(calls)
        name = other.func_call.funcname[-1].string.sval
        if rng.random() < 0.2:
            name = rng.choice(load_dialect("postgres").dangerous)
        del call.funcname[:]
        call.funcname.add().string.sval = name


def _change_values(tree: Any, donor: _Donor, rng: random.Random, names: Sequence[str]) -> None:
    """A flag or an enumeration gets another value."""
    fields = [
        (message, field)
        for message in _walk_messages(tree)
        for field in message.DESCRIPTOR.fields
        if not field.is_repeated
        and field.name not in _FIXED_FLAGS
        and (field.type == FieldDescriptor.TYPE_BOOL or _list_values(field, message))
    ]
    if not fields:
        return
    message, field = rng.choice(fields)
    if field.type == FieldDescriptor.TYPE_BOOL:
        setattr(message, field.name, not getattr(message, field.name))
    else:
        setattr(message, field.name, rng.choice(_list_values(field, message)))


def _list_values(field: FieldDescriptor, message: Any) -> list[int]:
    """The values that the enumeration may have in place of the one that it has."""
    if field.enum_type is None or not getattr(message, field.name):
        return []
    name = field.enum_type.values_by_number[getattr(message, field.name)].name
    if name in ("SETOP_NONE", "SVFOP_USER"):
        return []
    beginnings = _ENUMS.get(field.enum_type.name, ())
    return (
        [value.number for value in field.enum_type.values if value.name.startswith(beginnings)]
        if beginnings
        else []
    )


def _wrap(tree: Any, donor: _Donor, rng: random.Random, names: Sequence[str]) -> None:
    """The whole query in FROM, in WITH or behind LATERAL, its columns under other names."""
    inner = str(postgast.deparse(tree))
    alias, first, second = (_draw_name(rng, names) for _ in range(3))
    last = rng.choice((first, second, alias, "*", _draw_name(rng, names)))
    quote = _quote
    listed = rng.choice(("", f"({quote(first)})", f"({quote(first)}, {quote(second)})"))
    column = f"{quote(alias)}.{last if last == '*' else quote(last)}"
    text = rng.choice(
        (
            f"SELECT {column} FROM ({inner}) AS {quote(alias)}{listed}",
            f"WITH {quote(alias)}{listed} AS ({inner}) SELECT {column} FROM {quote(alias)}",
            f"SELECT {column} FROM hr.regions AS r, LATERAL ({inner}) AS {quote(alias)}{listed}",
            f"SELECT {quote(alias)}.x FROM hr.regions AS {quote(alias)}(x) WHERE EXISTS ({inner})",
        )
    )
    tree.CopyFrom(postgast.parse(text))


Rule = Callable[[Any, _Donor, random.Random, Sequence[str]], None]
_RULES: tuple[tuple[Rule, int], ...] = (
    (_swap_nodes, 4),
    (_swap_within, 3),
    (_rename_source, 3),
    (_rename_columns, 4),
    (_requalify, 4),
    (_rename_function, 2),
    (_change_values, 2),
    (_wrap, 2),
)


def _draw_name(rng: random.Random, names: Sequence[str]) -> str:
    dangerous = load_dialect("postgres").dangerous
    return rng.choice(dangerous if rng.random() < _DANGEROUS else names)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _find_kind(node: Any) -> str | None:
    kind: str | None = node.WhichOneof("node")
    return kind


def _walk(message: Any) -> Iterator[Any]:
    """All ``Node`` messages below."""
    return (node for node in _walk_messages(message) if type(node).__name__ == "Node")


def _walk_messages(message: Any) -> Iterator[Any]:
    pending = [message]
    while pending:
        current = pending.pop()
        yield current
        for field, value in current.ListFields():
            if field.type != FieldDescriptor.TYPE_MESSAGE or field.name in _PLACES:
                continue
            pending.extend(value if field.is_repeated else (value,))
