"""Descriptions that the model writes for columns without a comment.

Answers are stored with a hash of the prompt, so that an interrupted run continues, and only changed
tables are described again. They are used like comments: in the index and in prompts. The model sees
names, types and keys, but no cell values.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from nl2sql.catalog import Catalog, Table
from nl2sql.prompts import render_prompt
from nl2sql.prompts.contents import reduce_table
from nl2sql.protocols import Engine
from nl2sql.sql.names import quote_name
from nl2sql.types import Prompt, SamplingRequest
from retrieval.index_store.gloss_store import GlossStore

Progress = Callable[[int, int], None]

# Columns in a request: a small model makes mistakes with more.
_MOST_COLUMNS = 20
_TOKENS_A_COLUMN = 24
_LONGEST = 120

_LINE = re.compile(r"^\W*(?P<name>[^:`]+?)`?\s*:\s*(?P<text>\S.*)$")


@dataclass(frozen=True, slots=True)
class _Batch:
    """Some columns of one table, and the prompt that asks about them."""

    table: Table
    columns: tuple[str, ...]
    prompt: Prompt

    @property
    def sha256(self) -> str:
        text = "\0".join(message.content for message in self.prompt.messages)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def names(self) -> list[str]:
        """``schema.table.column`` of its columns."""
        return [f"{self.table.qualified}.{column}" for column in self.columns]


async def write_glosses(
    catalog: Catalog,
    engine: Engine,
    store: GlossStore,
    *,
    progress: Progress = lambda done, total: None,
) -> int:
    """Describes all new columns and returns their number. ``progress`` counts requests.

    Raises EngineUnavailable, PromptTooLong, IndexUnavailable.
    """
    known = await store.load(catalog.database)
    batches = list(find_missing(catalog, known))
    described = 0
    for done, batch in enumerate(batches, start=1):
        completions = await engine.sample(
            SamplingRequest(
                batch.prompt,
                k=1,
                seed=0,
                temperature=0.0,
                max_tokens=_TOKENS_A_COLUMN * len(batch.columns),
            )
        )
        answers = read_answer(completions.texts[0] if completions.texts else "", batch.columns)
        pairs = zip(batch.names(), batch.columns, strict=True)
        glosses = {name: answers.get(column, "") for name, column in pairs}
        await store.put(catalog.database, batch.sha256, glosses)
        described += len(answers)
        progress(done, len(batches))
    return described


def find_missing(catalog: Catalog, known: Mapping[str, tuple[str, str]]) -> Iterator[_Batch]:
    """Batches of the columns that have no comment and no answer to this prompt."""
    for table in catalog.tables:
        bare = [column.name for column in table.columns if not column.comment]
        for start in range(0, len(bare), _MOST_COLUMNS):
            columns = tuple(bare[start : start + _MOST_COLUMNS])
            batch = _Batch(table, columns, _render(catalog, table, columns))
            if any(known.get(name, ("", ""))[0] != batch.sha256 for name in batch.names()):
                yield batch


def apply_glosses(catalog: Catalog, known: Mapping[str, tuple[str, str]]) -> Catalog:
    """The catalog with the glosses in place of missing comments.

    >>> from nl2sql.catalog import Column
    >>> shop = Catalog("shop", (Table("main", "orders", (Column("amt", "real"),)),))
    >>> apply_glosses(shop, {"main.orders.amt": ("", "what was paid")}).tables[0].columns[0].comment
    'what was paid'
    """
    if not known:
        return catalog

    def describe(table: Table) -> Table:
        columns = tuple(
            replace(column, comment=known.get(f"{table.qualified}.{column.name}", ("", ""))[1])
            if not column.comment
            else column
            for column in table.columns
        )
        return table if columns == table.columns else replace(table, columns=columns)

    return replace(catalog, tables=tuple(describe(table) for table in catalog.tables))


def read_answer(text: str, columns: tuple[str, ...]) -> dict[str, str]:
    """Column → its meaning; other lines are ignored.

    >>> read_answer("- `amt`: amount paid, in euros\\nnothing: else\\nqty: qty", ("amt", "qty"))
    {'amt': 'amount paid, in euros'}
    """
    spelled = {column.lower(): column for column in columns}
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        column = spelled.get(match["name"].strip().lower()) if match else None
        if match and column is not None and match["text"].lower() != column.lower():
            found.setdefault(column, " ".join(match["text"].split())[:_LONGEST])
    return found


def _render(catalog: Catalog, table: Table, columns: tuple[str, ...]) -> Prompt:
    dialect = catalog.dialect
    lines = [
        f"  {quote_name(column.name, dialect)} {' '.join(column.type.split())[:_LONGEST]}"
        for column in reduce_table(table).columns
        if column.name in columns or column.name in table.primary_key
    ]
    name = catalog.short_names[table.qualified]
    schema = f"CREATE TABLE {name} (\n" + ",\n".join(lines) + "\n);"
    return render_prompt(
        "retrieval.glosses.prompts",
        "describe",
        dialect=dialect,
        contains="schema",
        schema=schema,
        table=name,
        columns=", ".join(columns),
    )
