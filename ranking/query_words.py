"""What a query asks for, in words that come from its tree alone.

For somebody who reads an answer without its query, or has to choose between two interpretations of
a question: what is shown, of which tables, under which conditions, grouped and sorted how; what
tells the two apart comes first. Names and values stand as they do in the query; how the tables are
joined is told only if it is by more than equal columns. A table that is read twice has a role each
time (``table_roles.py``). Knows nothing of a schema. What it has no words for stays SQL; a query
that does not parse stays whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from sqlglot import exp
from sqlglot.dialects import Dialect
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.generator import Generator

from nl2sql.sql.nodes import list_selects
from nl2sql.sql.parsing import read_tree, write_tree
from ranking.expression_words import EXPRESSION_WORDS, Words, enumerate_words
from ranking.query import find_output
from ranking.table_roles import name_roles

_MOST_CHARS = 160
_SET_OPERATIONS: tuple[tuple[type[exp.SetOperation], str], ...] = (
    (exp.Except, "but without"),
    (exp.Intersect, "as far as it is also among"),
    (exp.Union, "together with"),
)
# The clauses of a SELECT that have words; with any other it stays SQL.
_TOLD = frozenset(
    "with_ distinct expressions from_ joins where group having order limit offset".split()
)
_NO_LIMIT = ("ALL", "NULL", "-1")
_JOINS = {
    "LEFT": "also without any of {}",
    "RIGHT": "also {} alone",
    "FULL": "also without any of {0}, and {0} alone",
    "SEMI": "only with any of {}",
    "ANTI": "only without any of {}",
}
# Of a SELECT: the roles of its tables, and what is written before the columns of each.
_ROLES, _OWNERS = "roles", "owners"


def describe_apart(queries: Sequence[str], dialect: str) -> tuple[str, ...]:
    """A text a query; with several, what only that query asks for comes first.

    >>> describe_apart(["SELECT name FROM t WHERE age > 3", "SELECT name FROM t"], "sqlite")
    ('where age is more than 3. The same in both: shows name; of t.', 'shows name; of t.')
    >>> describe_apart(["SELECT count(*) FROM t"], "sqlite")
    ('shows the number of rows; of t.',)
    """
    clauses = [describe_query(query, dialect) for query in queries]
    if len(set(clauses)) < len(clauses):
        clauses = [(_shorten(query),) for query in queries]
    common = set(clauses[0]).intersection(*clauses[1:]) if len(clauses) > 1 else set()
    return tuple(_join_clauses(clause, common) for clause in clauses)


def describe_query(query: str, dialect: str) -> tuple[str, ...]:
    """The clauses of a query, each in words."""
    try:
        tree = read_tree(query, dialect).copy()
        for select in tree.find_all(exp.Select):
            _name_tables(select)
        writer = _build_writer(dialect)(
            dialect=dialect, comments=False, unsupported_level=ErrorLevel.IGNORE
        )
        return tuple(_list_clauses(writer, tree))
    except (SqlglotError, RecursionError):
        return (_shorten(query),)


def _join_clauses(clauses: Sequence[str], common: set[str]) -> str:
    own = [clause for clause in clauses if clause not in common]
    shared = [clause for clause in clauses if clause in common]
    if not own or not shared:
        return f"{'; '.join(clauses)}."
    return f"{'; '.join(own)}. The same in both: {'; '.join(shared)}."


@lru_cache
def _build_writer(dialect: str) -> type[Generator]:
    """The dialect's generator of SQL, which writes words for the nodes that have any."""
    base = Dialect.get_or_raise(dialect).generator_class
    return type("Writer", (base,), {"TRANSFORMS": {**base.TRANSFORMS, **_WORDS}})


def _list_clauses(write: Generator, tree: exp.Expr) -> list[str]:
    if isinstance(tree, exp.Subquery):
        inner = _list_clauses(write, tree.this)
        return [*inner, *_list_ctes(write, tree), *_list_end(write, tree)]
    for kind, words in _SET_OPERATIONS:
        if isinstance(tree, kind):
            right = "; ".join(_list_clauses(write, tree.args["expression"]))
            combined = [*_list_clauses(write, tree.this), f"{words} ({right})"]
            return [*combined, *_list_ctes(write, tree), *_list_end(write, tree)]
    if not isinstance(tree, exp.Select) or not _has_words(tree):
        return [_shorten(write_tree(tree.copy(), type(write.dialect)))]
    groups, measures = _list_outputs(write, tree)
    clauses = [_show_outputs(tree, groups, measures)]
    if sources := _list_sources(tree):
        clauses.append(f"of {enumerate_words([_name_source(write, source) for source in sources])}")
    clauses += filter(None, (_tell_join(write, join) for join in tree.args.get("joins") or ()))
    clauses += _list_ctes(write, tree)
    if where := tree.args.get("where"):
        clauses.append(f"where {write.sql(where.this)}")
    if having := tree.args.get("having"):
        clauses.append(f"only groups where {write.sql(having.this)}")
    # Of groups with one number, that is what they are usually sorted by.
    usual = [f"{words}, highest first" for words in measures] if groups else []
    return [*clauses, *_list_end(write, tree, usual)]


def _has_words(select: exp.Select) -> bool:
    told = {name for name, value in select.args.items() if value}
    distinct, joins = select.args.get("distinct"), select.args.get("joins") or ()
    return (
        told <= _TOLD
        and not (distinct and distinct.args.get("on"))
        and all(join.method in ("", "NATURAL") for join in joins)
        and select.find(exp.Pivot, exp.TableSample) is None
    )


def _list_ctes(write: Generator, tree: exp.Query) -> list[str]:
    return [f"{cte.alias} being ({write.sql(cte.this)})" for cte in tree.ctes]


def _list_outputs(write: Generator, select: exp.Select) -> tuple[list[str], list[str]]:
    """What it groups by, and the outputs by which it does not."""
    group = select.args.get("group")
    groups = [write.sql(find_output(each, select)) for each in group.expressions] if group else []
    outputs = map(write.sql, select.expressions)
    return groups, [output for output in outputs if output not in groups]


def _show_outputs(select: exp.Select, groups: Sequence[str], measures: Sequence[str]) -> str:
    """What is shown, and for each of which groups."""
    is_distinct = select.args.get("distinct") or (groups and not measures)
    words = f"shows {'different ' if is_distinct else ''}{enumerate_words(measures or groups)}"
    if not groups or not measures:
        return words
    return f"{words} for each {enumerate_words([group.removeprefix('the ') for group in groups])}"


def _tell_key(write: Generator, key: exp.Expr, select: exp.Select) -> str:
    sorted_by = find_output(key.this if isinstance(key, exp.Ordered) else key, select)
    words = write.sql(sorted_by)
    return f"{words}, highest first" if key.args.get("desc") else words


def _tell_join(write: Generator, join: exp.Join) -> str:
    """Empty for an inner join by equal columns."""
    name, condition = _name_source(write, join.this), join.args.get("on")
    kind = join.kind if join.kind in _JOINS else join.side
    if join.args.get("using") or join.method == "NATURAL" or _compares_columns(condition):
        return _JOINS.get(kind, "").format(name)
    words = f"joined where {write.sql(condition)}" if condition else f"with every row of {name}"
    return f"{words} ({kind.lower()} join)" if kind else words


def _list_sources(select: exp.Select) -> list[exp.Expr]:
    from_ = select.args.get("from_")
    first = [from_.this] if from_ is not None else []
    return [*first, *(join.this for join in select.args.get("joins") or ())]


def _name_tables(select: exp.Select) -> None:
    """Notes the roles of its tables, and how its columns are told apart where there are several."""
    own = _list_tables(select)
    around = select.find_ancestor(exp.Select, exp.From, exp.Join, exp.CTE)
    outer = _list_tables(around) if isinstance(around, exp.Select) else {}
    if outer and outer.keys().isdisjoint(_list_named(select) - own.keys()):
        outer = {}
    tables = outer | own
    roles = name_roles(select, tables)
    owners = {alias: f"{table}." for alias, table in tables.items()}
    for alias, role in roles.items():
        owners[alias] = f"{role}'s " if role.startswith("the ") else f"{role}."
    if len(_list_sources(select)) < 2:
        owners |= dict.fromkeys(own, "")
    select.meta.update({_ROLES: roles, _OWNERS: owners})


def _list_tables(select: exp.Select) -> dict[str, str]:
    """Folded alias → name of the tables that it reads."""
    return {
        source.alias_or_name.lower(): source.name
        for source in _list_sources(select)
        if isinstance(source, exp.Table) and source.name
    }


def _list_named(select: exp.Select) -> set[str]:
    """The folded names before its columns, and before those of the queries in it."""
    return {column.table.lower() for column in select.find_all(exp.Column)}


def _name_source(write: Generator, source: exp.Expr) -> str:
    if not isinstance(source, exp.Table) or not source.name:
        return str(write.sql(source))
    select = source.find_ancestor(exp.Select)
    role = select.meta[_ROLES].get(source.alias_or_name.lower()) if select else ""
    return f"{source.name} ({role})" if role else source.name


def _compares_columns(condition: exp.Expr | None) -> bool:
    """Whether it is that columns are equal, and nothing else."""
    parts = condition.flatten() if isinstance(condition, exp.And) else [condition]
    return all(
        isinstance(part, exp.EQ)
        and isinstance(part.this, exp.Column)
        and isinstance(part.expression, exp.Column)
        for part in parts
    )


def _list_end(write: Generator, tree: exp.Query, usual: Sequence[str] = ()) -> list[str]:
    """The order, and which rows of it; ``usual`` are the keys that need not be named."""
    order, limit, offset = (tree.args.get(clause) for clause in ("order", "limit", "offset"))
    clauses = []
    if order is not None:
        select = next(list_selects(tree))
        keys = [_tell_key(write, key, select) for key in order]
        clauses.append("highest first" if keys == usual else f"sorted by {enumerate_words(keys)}")
    skipped = f"after the first {write.sql(offset.expression)}" if offset is not None else ""
    count = limit and (limit.args.get("expression") or limit.args.get("count"))
    text = write.sql(count) or "1"  # FETCH FIRST ROW ONLY
    if limit is not None and text not in _NO_LIMIT:
        options = (limit.args.get("limit_options") or limit).args
        unit = "percent of the rows" if options.get("percent") else "row" if text == "1" else "rows"
        ties = " and those equal to the last" if options.get("with_ties") else ""
        clauses.append(f"only {text} {unit}{ties} {skipped}".rstrip())
    elif skipped:
        clauses.append(f"only rows {skipped}")
    return clauses


def _write_query(write: Generator, node: exp.Expr) -> str:
    return "; ".join(_list_clauses(write, node))


def _write_column(write: Generator, column: exp.Column) -> str:
    """Its name, with the role or the name of its table where there are several."""
    name = write.sql(column.this) if isinstance(column.this, exp.Star) else column.name
    select = column.parent_select
    if not isinstance(select, exp.Select) or not column.table:
        return name
    is_alone = len(_list_sources(select)) < 2
    owner = select.meta.get(_OWNERS, {}).get(
        column.table.lower(), "" if is_alone else f"{column.table}."
    )
    return f"{owner}{name}"


_WORDS: Mapping[type[exp.Expr], Words] = {
    **EXPRESSION_WORDS,
    exp.Select: _write_query,
    **dict.fromkeys((kind for kind, _ in _SET_OPERATIONS), _write_query),
    exp.Column: _write_column,
}


def _shorten(query: str) -> str:
    text = " ".join(query.split())
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}…"
