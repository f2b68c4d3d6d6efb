"""Shows a schema and its query as another database could have them: other names, another dialect.

A model that is trained on each schema in one spelling remembers spellings. All questions about one
database get the same variation, so that their prompts still begin alike and are packed.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from generation.tuning.portability import is_portable, translate_type
from generation.tuning.targets import build_name, write_query
from nl2sql.catalog import Column, ForeignKey, Table
from nl2sql.sql.names import fold_name, quote_name
from nl2sql.sql.parsing import parse_one
from nl2sql.types import RetrievedTable, SchemaContext

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# Some databases keep their names; most of what is served is PostgreSQL.
_KEPT = 0.4
_DIALECTS = (("sqlite", 0.4), ("postgres", 0.45), ("duckdb", 0.15))
_REPLACED = 0.4
_SCHEMAS = {"sqlite": "main", "postgres": "public", "duckdb": "main"}


@dataclass(frozen=True, slots=True)
class Variation:
    """How to spell one database.

    ``case`` is ``same``, ``snake``, ``camel``, ``pascal`` or ``upper``; ``words`` replaces words of
    names, all lower case.
    """

    dialect: str
    case: str
    words: Mapping[str, str]

    def rename(self, name: str) -> str:
        """Another spelling of the name of a table or column.

        >>> Variation("sqlite", "camel", {"customer": "cust"}).rename("CUSTOMER_First_name")
        'custFirstName'
        >>> Variation("postgres", "same", {"customer": "cust"}).rename("Customer_ID")
        'cust_ID'
        """
        if not name.isascii():
            return name
        if self.case == "same":
            return _WORD.sub(lambda found: self._replace(found[0]), name)
        words = [self._replace(word.lower()) for word in _WORD.findall(name)]
        if not words or words[0].isdigit():
            return name
        if self.case == "snake":
            return "_".join(words)
        if self.case == "upper":
            return "_".join(words).upper()
        first, *rest = words
        return (first if self.case == "camel" else first.capitalize()) + "".join(
            word.capitalize() for word in rest
        )

    @property
    def changes_names(self) -> bool:
        """Whether any name may be spelled otherwise."""
        return self.case != "same" or bool(self.words)

    def _replace(self, word: str) -> str:
        return self.words.get(word.lower(), word)


def choose_variation(
    database: str, dialect: str, words: Mapping[str, Sequence[str]], seed: int
) -> Variation:
    """The variation of a database; the same for the same seed.

    ``words`` has for lower-case words those that can replace them. Only SQLite's queries can be
    written in other dialects.
    """
    rng = random.Random(f"{seed} {database}")
    new = dialect
    if dialect == "sqlite":
        new = rng.choices([name for name, _ in _DIALECTS], [share for _, share in _DIALECTS])[0]
    kept = rng.random() < _KEPT
    if kept and new == dialect:
        return Variation(new, "same", {})
    cases = ["snake", "snake", "camel"] if new == "postgres" else ["snake", "camel", "pascal"]
    case = rng.choice([*cases, "upper"] if new == "sqlite" else cases)
    if kept:
        # PostgreSQL's names are lower case nearly everywhere.
        return Variation(new, "snake" if new == "postgres" else "same", {})
    style = rng.choice(["same words", "other words"])
    chosen = _choose_words(words, f"{seed} {database}") if style == "other words" else {}
    return Variation(new, case, chosen)


def _choose_words(words: Mapping[str, Sequence[str]], key: str) -> dict[str, str]:
    # Each word is drawn apart from the others, so that a longer list changes no earlier choice.
    chosen = {}
    for word, others in words.items():
        rng = random.Random(hashlib.sha256(f"{key} {word}".encode()).digest())
        if others and rng.random() < _REPLACED:
            chosen[word] = rng.choice(sorted(others))
    return chosen


def list_words(tables: Iterable[Table]) -> frozenset[str]:
    """The words of the names of tables and columns, in lower case."""
    names = (name for each in tables for name in (each.name, *(c.name for c in each.columns)))
    return frozenset(word.lower() for name in names for word in _WORD.findall(name))


def vary_context(
    context: SchemaContext, variation: Variation
) -> tuple[SchemaContext, Names] | None:
    """The context in other names and another dialect, and the names for `vary_query`.

    Names that would be equal afterwards stay as they are. What only an index knows (descriptions
    apart from the database, definitions, a verified query, examples) is left out. None for tables
    that are shown with their schemas, since they may differ in these alone.
    """
    short = [quote_name(hit.table.name, context.dialect) for hit in context.tables]
    if short != list(context.names):
        return None
    names = Names.build([hit.table for hit in context.tables], variation)
    same = context.dialect == variation.dialect
    hits = tuple(names.vary_hit(hit, keep_types=same) for hit in context.tables)
    kept = [
        key for key in context.foreign_keys if key.table in names.new and key.target in names.new
    ]
    values = [match for match in context.values if match.table in names.new]
    return (
        replace(
            context,
            tables=hits,
            names=tuple(quote_name(hit.table.name, variation.dialect) for hit in hits),
            dialect=variation.dialect,
            foreign_keys=tuple(map(names.vary_key, kept)),
            values=tuple(
                replace(
                    match,
                    table=names.new[match.table].qualified,
                    column=names.column(match.table, match.column),
                )
                for match in values
            ),
            shared=tuple(names.new[each].qualified for each in context.shared if each in names.new),
            required=(),
            glosses=(),
            definitions=(),
            row_rules=(),
            examples=(),
            verified=None,
        ),
        names,
    )


def vary_query(sql: str, dialect: str, names: Names) -> str | None:
    """The query, spelled as its prompt showed names, with those of the variation.

    None if it cannot be told what a name means, since an alias has the name of a column or table,
    or if the other dialect may refuse the query, see ``is_portable``.
    """
    tree = parse_one(sql, dialect)
    tables = {fold_name(old.name, dialect): new for old, new in names.pairs}
    sources = {fold_name(node.name, dialect) for node in tree.find_all(exp.Table)}
    read = [pair for pair in names.pairs if fold_name(pair[0].name, dialect) in sources]
    columns: dict[str, set[str]] = {}
    for old, _ in read:
        for column in old.columns:
            new = names.column(old.qualified, column.name)
            columns.setdefault(fold_name(column.name, dialect), set()).add(new)
    taken = {*columns, *tables, *(new.name.lower() for new in tables.values())}
    taken |= {name.lower() for spelled in columns.values() for name in spelled}
    if _list_aliases(tree) & taken or any(
        join.args.get("using") for join in tree.find_all(exp.Join)
    ):
        return None
    for node in list(tree.find_all(exp.Table)):
        if (table := tables.get(fold_name(node.name, dialect))) is not None:
            node.set("this", build_name(table.name, names.dialect))
            node.set("db", None)
    for column_node in list(tree.find_all(exp.Column)):
        found = columns.get(fold_name(column_node.name, dialect), set())
        if len(found) > 1:
            return None
        for spelled in found:
            column_node.set("this", build_name(spelled, names.dialect))
        if (table := tables.get(fold_name(column_node.table, dialect))) is not None:
            column_node.set("table", build_name(table.name, names.dialect))
    if names.dialect != dialect:
        types: dict[str, set[str]] = {}
        for _, varied in read:
            for each in varied.columns:
                types.setdefault(each.name.lower(), set()).add(translate_type(each.type))
        if not isinstance(tree, exp.Query) or not is_portable(tree, types):
            return None
        for order in tree.find_all(exp.Ordered):
            # Otherwise sqlglot adds NULLS LAST, which hardly anybody writes.
            last = names.dialect == "duckdb" or not order.args.get("desc")
            order.set("nulls_first", not last)
    return write_query(tree, names.dialect)


def _list_aliases(tree: exp.Expr) -> set[str]:
    named = tree.find_all(exp.Alias, exp.Subquery, exp.CTE, exp.Table)
    found = {node.alias.lower() for node in named if node.alias}
    for alias in tree.find_all(exp.TableAlias):
        found |= {column.name.lower() for column in alias.columns}
    return found


@dataclass(frozen=True)
class Names:
    """Old and new tables; ``new`` has the new one by the qualified name of the old one."""

    dialect: str
    pairs: tuple[tuple[Table, Table], ...]
    new: Mapping[str, Table]

    @classmethod
    def build(cls, tables: Sequence[Table], variation: Variation) -> Names:
        """Renames the tables and their columns."""
        spelled = _rename([table.name for table in tables], variation)
        pairs = []
        for table in tables:
            columns = _rename([column.name for column in table.columns], variation)
            pairs.append(
                (
                    table,
                    replace(
                        table,
                        schema=_SCHEMAS[variation.dialect],
                        name=spelled[table.name],
                        columns=tuple(
                            Column(columns[column.name], column.type, column.nullable)
                            for column in table.columns
                        ),
                        primary_key=tuple(columns.get(name, name) for name in table.primary_key),
                        comment="",
                        definition="",
                    ),
                )
            )
        return cls(variation.dialect, tuple(pairs), {old.qualified: new for old, new in pairs})

    def column(self, table: str, name: str) -> str:
        """The new name of a column of the old table of this qualified name."""
        old = next(old for old, _ in self.pairs if old.qualified == table)
        at = next((at for at, each in enumerate(old.columns) if each.name == name), None)
        return name if at is None else self.new[table].columns[at].name

    def vary_hit(self, hit: RetrievedTable, *, keep_types: bool) -> RetrievedTable:
        """The hit with the new table."""
        table = self.new[hit.table.qualified]
        if not keep_types:
            columns = tuple(replace(each, type=translate_type(each.type)) for each in table.columns)
            table = replace(table, columns=columns)
        shown = tuple(self.column(hit.table.qualified, name) for name in hit.columns)
        return replace(hit, table=table, columns=shown)

    def vary_key(self, key: ForeignKey) -> ForeignKey:
        """The key between the new tables."""
        return replace(
            key,
            table=self.new[key.table].qualified,
            columns=tuple(self.column(key.table, name) for name in key.columns),
            target=self.new[key.target].qualified,
            target_columns=tuple(self.column(key.target, name) for name in key.target_columns),
        )


def _rename(names: Sequence[str], variation: Variation) -> dict[str, str]:
    """New names by old ones; those that would be equal stay as they are."""
    new = {name: variation.rename(name) for name in names}
    seen = Counter(each.lower() for each in new.values())
    kept = {name for name, spelled in new.items() if seen[spelled.lower()] > 1}
    if kept and {name.lower() for name in kept} & {
        spelled.lower() for name, spelled in new.items() if name not in kept
    }:
        kept = set(names)
    return {name: name if name in kept else spelled for name, spelled in new.items()}
