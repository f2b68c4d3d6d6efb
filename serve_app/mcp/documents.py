"""The JSON documents that tools return, limited in size.

A result that is cut says so under ``truncated`` and ``notes``: a language model would otherwise
take the part for the whole.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from nl2sql.answers import Answer, Answered, Clarify
from nl2sql.catalog import ForeignKey, Table
from nl2sql.results.json_values import describe_unreadable, to_json_value
from nl2sql.types import ResultSet, SchemaContext
from quorumsql.contract.answers import ClarifyResponse, FailedResponse
from retrieval.schema_directory import TableDescriptions
from serve_app.service.rendering import build_response

# The most characters of a list of rows or tables, as JSON.
MOST_CHARS = 20_000
_MOST_CELL_CHARS = 500
# Outside texts JSON has none of these.
_MARKUP = (("](", "]\\u0028"), ("://", ":\\/\\/"), ("<", "\\u003c"))

_T = TypeVar("_T")
Document = dict[str, Any]

_HOW_TO_PICK = (
    "The question has several interpretations. Let the user choose one, then call ask again with "
    "the same question and, as `chosen_sql`, the `sql` of the chosen interpretation."
)


def write_json(document: Document) -> str:
    r"""The document as text that every transport can encode, and in which nothing is markup.

    Some clients show it as Markdown, and fetch its images. So the signs of links, images and HTML
    are written as JSON's escapes, which whoever reads the JSON gets back.

    >>> write_json({"a": "![x](https://b.example) <img>"})
    '{"a": "![x]\\u0028https:\\/\\/b.example) \\u003cimg>"}'
    """
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    for signs, escape in _MARKUP:
        text = text.replace(signs, escape)
    # Values of a database may hold lone surrogates, which UTF-8 cannot encode.
    return text.encode(errors="replace").decode()


def build_answer(answer: Answer) -> Document:
    """The answer as over HTTP, without empty values, with limited rows."""
    table: Document = {}
    if isinstance(answer, Answered):
        table = build_result(answer.result)
        # Those that are not shown need not be rendered.
        answer = replace(answer, result=replace(answer.result, rows=(), cut=()))
    response = build_response(answer, trace=False)
    document = response.model_dump(exclude_defaults=True, exclude={"columns", "rows", "cut"})
    document = {"outcome": response.outcome, **document}
    if table:
        notes = dict.fromkeys((*response.notes, *table["notes"]))
        return document | table | {"notes": list(notes)}
    if isinstance(response, ClarifyResponse):
        assert isinstance(answer, Clarify)
        interpretations = [
            {"number": number, **each.model_dump(include={"sql", "description", "share"})}
            | (build_result(result) if (result := given.result) is not None else {})
            for number, (each, given) in enumerate(
                zip(response.interpretations, answer.interpretations, strict=True), start=1
            )
        ]
        return document | {"interpretations": interpretations, "next": _HOW_TO_PICK}
    if isinstance(response, FailedResponse):
        return document | {"attempts": _fit(document.get("attempts", []))}
    return document


def build_result(result: ResultSet) -> Document:
    """The first rows of a query."""
    names, fetched = result.columns, len(result.rows)
    columns = _fit(names, MOST_CHARS // 2)
    room = MOST_CHARS - _count_chars(columns)
    shown: list[list[Any]] = []
    has_cut = False
    for row in result.rows:
        whole = [to_json_value(value) for value in row[: len(columns)]]
        cut = [_cut_cell(value) for value in whole]
        room -= _count_chars(cut) + 2
        if room < 0:
            break
        shown.append(cut)
        has_cut = has_cut or cut != whole
    notes = []
    if len(columns) < len(names):
        notes.append(f"{len(columns)} of {len(names)} columns are shown. Select fewer columns.")
    if len(shown) < fetched:
        notes.append(
            f"{len(shown)} of {fetched} fetched rows are shown, because a result has at most "
            f"{MOST_CHARS} characters. Select fewer columns, or aggregate."
        )
    if result.truncated:
        notes.append(
            f"The query has more rows than the {fetched} fetched. Aggregate, add conditions, or "
            "raise max_rows."
        )
    if unreadable := describe_unreadable(shown):
        notes.append(unreadable)
    if has_cut:
        notes.append(f"Cells longer than {_MOST_CELL_CHARS} characters are cut and end with ….")
    if any(
        row < len(shown) and column < len(columns) and shown[row][column] is None
        for row, column in result.cut
    ):
        notes.append("Some cells are null because their values are too long to be returned.")
    return {
        "columns": columns,
        "rows": shown,
        "truncated": result.truncated or len(shown) < fetched or len(columns) < len(names),
        "notes": notes,
    }


def build_tables(found: TableDescriptions, *, whole: bool) -> Document:
    """The tables with their columns; unless ``whole``, only their names and comments."""
    rules = dict(found.row_rules)
    described = [
        _describe_table(table, name, found.foreign_keys, rules)
        if whole
        else _leave_out_empty({"name": name, "comment": _cut_cell(table.comment)})
        for table, name in zip(found.tables, found.names, strict=True)
    ]
    shown = _fit(described)
    # A list of all tables is complete if it has as many as the principal may see.
    total = len(found.tables) if whole else found.total
    notes = [f"There is no table {name!r} that you may see." for name in found.unknown]
    if len(shown) < total:
        notes.append(
            f"{len(shown)} of {total} tables are shown. Find others with search_schema, or "
            "describe fewer tables at once."
        )
    return {
        "dialect": found.dialect,
        "tables": shown,
        "truncated": len(shown) < total,
        "notes": notes,
    }


def build_context(context: SchemaContext) -> Document:
    """The tables that a search found, with the values and examples that match the text."""
    described = [
        _describe_table(hit.table, name, context.foreign_keys, rules={})
        for hit, name in zip(context.tables, context.names, strict=True)
        # Those only stand in the prompts of all questions about the same module.
        if hit.via != "module"
    ]
    shown = _fit(described)
    notes = []
    if len(shown) < len(described):
        notes.append(f"The best {len(shown)} of {len(described)} tables that were found are shown.")
    return {
        "dialect": context.dialect,
        "tables": shown,
        "values": [
            {"table": match.table, "column": match.column, "value": match.value[:_MOST_CELL_CHARS]}
            for match in context.values
        ],
        "examples": _fit(
            [{"question": found.question, "sql": found.sql} for found in context.examples]
        ),
        "truncated": len(shown) < len(described),
        "notes": notes,
    }


def _cut_cell(value: Any) -> Any:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
    if isinstance(text, str) and len(text) > _MOST_CELL_CHARS:
        return text[: _MOST_CELL_CHARS - 1] + "…"
    return value


def _fit(items: Sequence[_T], most: int = MOST_CHARS) -> list[_T]:
    """The first items whose JSON has at most ``most`` characters together."""
    shown, chars = [], 0
    for item in items:
        chars += _count_chars(item) + 2
        if chars > most:
            break
        shown.append(item)
    return shown


def _count_chars(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def _describe_table(
    table: Table, name: str, keys: Sequence[ForeignKey], rules: Mapping[str, str]
) -> Document:
    """One table never has more than ``MOST_CHARS`` characters."""
    rule = rules.get(table.qualified)
    columns = [
        _leave_out_empty(
            {"name": column.name, "type": column.type, "comment": _cut_cell(column.comment)}
        )
        for column in table.columns
    ]
    shown = _fit(columns, MOST_CHARS // 2)
    references = [
        f"({', '.join(key.columns)}) references {key.target}({', '.join(key.target_columns)})"
        for key in keys
        if key.table == table.qualified
    ]
    return _leave_out_empty(
        {
            "name": name,
            "kind": "" if table.kind == "table" else table.kind,
            "comment": _cut_cell(table.comment),
            "columns": shown,
            "columns_left_out": len(columns) - len(shown) or None,
            "primary_key": list(table.primary_key),
            "foreign_keys": _fit(references, MOST_CHARS // 5),
            "visible_rows": _cut_cell(rule or "Only some; the condition is hidden.")
            if rule is not None
            else "",
        }
    )


def _leave_out_empty(document: Document) -> Document:
    return {key: value for key, value in document.items() if value not in ("", [], None)}
