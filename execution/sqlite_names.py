"""Settles what SQLite leaves to chance in names, so that it has nothing left to guess.

- Case: names compare without it, and are written as the query wrote them.
- A word in double quotes is a name where something visible bears it, and a string elsewhere.
- A table and a CTE of the same WITH may not share a name where it could be either: SQLite's CTEs
  see one another whatever their order, and recurse without being told.

What a word can see follows SQLite's resolve.c. Were this module to see more than SQLite, the word
would stay a name, and one in backticks that SQLite does not find is an error, no other result.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp
from sqlglot.optimizer.scope import Scope, traverse_scope

from execution.sqlite_dialect import GuardedSqlite
from nl2sql.catalog import Catalog
from nl2sql.names import fold_name, quote_name
from nl2sql.types import Violation

_SPELLING = "spelling"
_IN_DOUBLE_QUOTES = "in_double_quotes"
_BARE = "bare"


def record_spelling(tree: exp.Expr, sql: str) -> None:
    """Notes on each name how ``sql`` wrote it, before case is normalised away."""
    for node in tree.walk():
        if isinstance(node, exp.Identifier):
            node.meta[_SPELLING] = node.name
            start = node.meta_get("start")
            node.meta[_IN_DOUBLE_QUOTES] = start is not None and sql[start] == '"'
        elif isinstance(node, exp.Table) and not node.db:
            node.meta[_BARE] = True
    for cte in tree.find_all(exp.CTE):
        if isinstance(cte.parent, exp.With) and _reads(cte, fold_name(cte.alias, "sqlite")):
            cte.parent.set("recursive", True)


def settle_names(tree: exp.Expr, catalog: Catalog) -> Violation | None:
    """Makes strings of the words that are none, in place; ``tree`` has its tables qualified."""
    for table in tree.find_all(exp.Table):
        if table.meta_get(_BARE) and table.db and _is_cte_too(table):
            return Violation(
                "unexplained_table", table.name, f"{table.name} is a table and a CTE here."
            )
    scopes = {id(scope.expression): scope for scope in traverse_scope(tree)}
    for column in list(tree.find_all(exp.Column)):
        word = column.this
        if (
            isinstance(word, exp.Identifier)
            and not column.table
            and word.meta_get(_IN_DOUBLE_QUOTES)
            and not _is_visible(column, scopes, catalog)
        ):
            column.replace(exp.Literal.string(word.meta[_SPELLING]))
    return None


def restore_spelling(tree: exp.Expr) -> None:
    """Writes each name as the query did, in quotes only where it needs them, in place."""
    for name in tree.find_all(exp.Identifier):
        spelling = name.meta_get(_SPELLING) or name.name
        name.set("this", spelling)
        name.set("quoted", quote_name(spelling, "sqlite") != spelling)


def _reads(cte: exp.CTE, name: str) -> bool:
    return any(
        table.meta_get(_BARE) and fold_name(table.name, "sqlite") == name
        for table in cte.this.find_all(exp.Table)
    )


def _is_cte_too(table: exp.Table) -> bool:
    name = fold_name(table.name, "sqlite")
    ancestor = table.parent
    while ancestor is not None:
        clause = ancestor.args.get("with_")
        if clause and any(fold_name(cte.alias, "sqlite") == name for cte in clause.expressions):
            return True
        ancestor = ancestor.parent
    return False


def _is_visible(column: exp.Column, scopes: dict[int, Scope], catalog: Catalog) -> bool:
    """Whether a query around the column has a source's column or an output of that name."""
    called = {column.name, _build_text_name(column.name)}
    inner: exp.Expr = column
    ancestor = column.parent
    is_source = False
    while ancestor is not None:
        is_source = is_source or _is_source(inner, ancestor)
        scope = scopes.get(id(ancestor))
        if scope is not None:
            if not is_source and called & _visible_names(scope, inner, catalog):
                return True
            # A query that is another's source sees nothing of that one, but of those around it.
            is_source = False
        inner, ancestor = ancestor, ancestor.parent
    return False


def _is_source(inner: exp.Expr, ancestor: exp.Expr) -> bool:
    is_joined = isinstance(ancestor, exp.From | exp.Join) and inner is ancestor.this
    return is_joined or isinstance(ancestor, exp.With)


def _visible_names(scope: Scope, inner: exp.Expr, catalog: Catalog) -> set[str]:
    """The names that ``inner``, an argument of the scope's query, can use in it."""
    if isinstance(scope.expression, exp.SetOperation) and not isinstance(inner, exp.Order):
        # A compound's own names are there for its ORDER BY only.
        return set()
    names = {name for source in _sources(scope) for name in _columns(source, catalog, ())}
    if inner.arg_key != "expressions":
        # An output's alias is not there for the outputs themselves.
        outputs = scope.expression.args.get("expressions") or ()
        names |= {output.alias for output in outputs if output.alias}
    return names


def _sources(scope: Scope) -> list[exp.Expr | Scope]:
    if isinstance(scope.expression, exp.SetOperation):
        return [*scope.set_operation_scopes]
    return [source for _, source in scope.selected_sources.values()]


def _columns(
    source: exp.Expr | Scope, catalog: Catalog, within: tuple[Scope, ...]
) -> Iterator[str]:
    """The folded names under which a source's columns may be called."""
    if isinstance(source, exp.Table):
        table = catalog.resolve(source.name, source.db)
        if table is not None:
            yield from (fold_name(column.name, "sqlite") for column in table.columns)
        return
    if not isinstance(source, Scope) or source in within:
        return
    yield from source.outer_columns
    within = (*within, source)
    for inner in _sources(source) if isinstance(source.expression, exp.SetOperation) else ():
        yield from _columns(inner, catalog, within)
    for output in source.expression.args.get("expressions") or ():
        if output.is_star:
            for inner in _sources(source):
                yield from _columns(inner, catalog, within)
        elif output.alias or isinstance(output, exp.Column):
            yield str(output.alias_or_name)
        else:
            yield _build_text_name(output.sql(GuardedSqlite))


def _build_text_name(text: str) -> str:
    """What stands for the name of an output without one: to SQLite that is its text.

    How the text was spaced and quoted is not known any more, so it does not count here.
    """
    return "\0" + "".join(letter for letter in text.lower() if letter.isalnum())
