"""What a query asks for, in words that come from its tree alone.

For somebody who reads an answer without its query, or has to choose between two interpretations of
a question: what is shown, of which tables, under which conditions, grouped and sorted how; what
tells the two apart comes first. Names and values stand as they do in the query; how the tables are
joined is told only if two queries differ in nothing else, or if it is more than equal columns.
Knows nothing of a schema. What it has no words for stays SQL; a query that does not parse stays
whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.sql.parsing import read_tree

_COMPARISONS: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.EQ, "is"),
    (exp.NEQ, "is not"),
    (exp.GT, "is more than"),
    (exp.GTE, "is at least"),
    (exp.LT, "is less than"),
    (exp.LTE, "is at most"),
    (exp.Like, "is like"),
    (exp.ILike, "is like"),
)
_AGGREGATES: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Count, "the number of"),
    (exp.Sum, "the sum of"),
    (exp.Avg, "the average of"),
    (exp.Min, "the lowest"),
    (exp.Max, "the highest"),
)
_SET_OPERATIONS: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Except, "but without"),
    (exp.Intersect, "as far as it is also among"),
    (exp.Union, "together with"),
)
_CALCULATIONS: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Mul, "times"),
    (exp.Div, "/"),
    (exp.Add, "+"),
    (exp.Sub, "-"),
)
# What changes the form of a value, not what it says.
_FORMS = (
    exp.Cast,
    exp.TryCast,
    exp.Round,
    exp.TsOrDsToDate,
    exp.TsOrDsToTimestamp,
    exp.TsOrDsToTime,
)
_DATE_PARTS: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Year, "year"),
    (exp.Quarter, "quarter"),
    (exp.Month, "month"),
    (exp.Day, "day"),
)
_DATE_FORMATS = {"%Y": "year", "%Y-%m": "month", "%m": "month", "%d": "day"}
_MOST_CHARS = 160


def describe_apart(queries: Sequence[str], dialect: str) -> tuple[str, ...]:
    """A text a query; with several, what only that query asks for comes first.

    >>> describe_apart(["SELECT name FROM t WHERE age > 3", "SELECT name FROM t"], "sqlite")
    ('where age is more than 3. The same in both: shows name; of t.', 'shows name; of t.')
    >>> describe_apart(["SELECT count(*) FROM t"], "sqlite")
    ('shows the number of rows; of t.',)
    """
    clauses = [describe_query(query, dialect) for query in queries]
    if len(set(clauses)) < len(clauses):
        clauses = [describe_query(query, dialect, joins=True) for query in queries]
    common = set(clauses[0]).intersection(*clauses[1:]) if len(clauses) > 1 else set()
    return tuple(_join_clauses(clause, common) for clause in clauses)


def describe_query(query: str, dialect: str, *, joins: bool = False) -> tuple[str, ...]:
    """The clauses of a query, each in words; with ``joins``, also which columns join the tables.

    >>> describe_query("SELECT b, max(a) FROM t GROUP BY b ORDER BY 1 DESC LIMIT 3", "postgres")
    ('shows the highest a for each b', 'of t', 'sorted by b, highest first', 'only 3 rows')
    """
    try:
        return tuple(_describe(read_tree(query, dialect), dialect, joins))
    except (SqlglotError, RecursionError):
        return (_shorten(" ".join(query.split())),)


def _join_clauses(clauses: Sequence[str], common: set[str]) -> str:
    own = [clause for clause in clauses if clause not in common]
    shared = [clause for clause in clauses if clause in common]
    if not own or not shared:
        return f"{'; '.join(clauses)}."
    return f"{'; '.join(own)}. The same in both: {'; '.join(shared)}."


def _describe(tree: exp.Expr, dialect: str, joins: bool) -> list[str]:
    if isinstance(tree, exp.Subquery):
        return _describe(tree.this, dialect, joins)
    for kind, words in _SET_OPERATIONS:
        if isinstance(tree, kind):
            left = _describe(tree.this, dialect, joins)
            right = "; ".join(_describe(tree.args["expression"], dialect, joins))
            return [*left, f"{words} ({right})", *_limit(tree, dialect)]
    if not isinstance(tree, exp.Select):
        return [_shorten(tree.sql(dialect=dialect))]
    return _Words(tree, dialect, joins).describe()


class _Words:
    """One SELECT. Columns are named with their table where it has several."""

    def __init__(self, select: exp.Select, dialect: str, joins: bool) -> None:
        self._select = select
        self._dialect = dialect
        self._joins = joins
        self._sources = _list_sources(select)
        self._names = {
            source.alias_or_name.lower(): source.name
            for source in self._sources
            if isinstance(source, exp.Table)
        }

    def describe(self) -> list[str]:
        select = self._select
        clauses = [self._word_outputs()]
        if self._sources:
            clauses.append(
                f"of {_enumerate([self._name_source(source) for source in self._sources])}"
            )
        clauses += filter(None, map(self._word_join, select.args.get("joins") or ()))
        clauses += [f"{cte.alias} being ({self._nest(cte.this)})" for cte in select.ctes]
        if where := select.args.get("where"):
            clauses.append(f"where {self._word(where.this)}")
        if having := select.args.get("having"):
            clauses.append(f"only groups where {self._word(having.this)}")
        if order := select.args.get("order"):
            clauses.append(self._word_order(order))
        return [*clauses, *_limit(select, self._dialect)]

    def _word_outputs(self) -> str:
        """What is shown, and for each of which groups."""
        groups, measures = self._list_groups(), self._list_measures()
        is_distinct = self._select.args.get("distinct") or (groups and not measures)
        shown = _enumerate(measures or groups)
        words = f"shows {'different ' if is_distinct else ''}{shown}"
        if not groups or not measures:
            return words
        return f"{words} for each {_enumerate([group.removeprefix('the ') for group in groups])}"

    def _list_groups(self) -> list[str]:
        group = self._select.args.get("group")
        return [self._word_output(each) for each in group.expressions] if group else []

    def _list_measures(self) -> list[str]:
        """The outputs by which nothing is grouped."""
        groups = self._list_groups()
        outputs = (self._word(expression) for expression in self._select.expressions)
        return [output for output in outputs if output not in groups]

    def _nest(self, tree: exp.Expr) -> str:
        return "; ".join(_describe(tree, self._dialect, self._joins))

    def _name_source(self, source: exp.Expr) -> str:
        if isinstance(source, exp.Table):
            return source.name
        if isinstance(source, exp.Subquery):
            return f"({self._nest(source.this)})"
        return _shorten(source.sql(dialect=self._dialect))

    def _word_join(self, join: exp.Join) -> str:
        """Empty for an inner join that need not be told."""
        if not self._joins and not join.side and _compares_columns(join):
            return ""
        if not self._joins and join.side == "LEFT" and _compares_columns(join):
            return f"also without any of {self._name_source(join.this)}"
        words = f"with every row of {self._name_source(join.this)}"
        if condition := join.args.get("on"):
            words = f"joined where {self._word(condition)}"
        elif using := join.args.get("using"):
            words = f"joined by {_enumerate([each.name for each in using])}"
        return f"{words} ({join.side.lower()} join)" if join.side else words

    def _word_order(self, order: exp.Order) -> str:
        keys = [self._sort(each) for each in order]
        # Of groups with one number, that is what they are usually sorted by.
        if self._list_groups() and keys == [
            f"{words}, highest first" for words in self._list_measures()
        ]:
            return "highest first"
        return f"sorted by {_enumerate(keys)}"

    def _sort(self, ordered: exp.Expr) -> str:
        if not isinstance(ordered, exp.Ordered):
            return self._word_output(ordered)
        words = self._word_output(ordered.this)
        return f"{words}, highest first" if ordered.args.get("desc") else words

    def _word_output(self, node: exp.Expr) -> str:
        """The words for an expression that may be the number or the alias of an output."""
        outputs = self._select.expressions
        if isinstance(node, exp.Literal) and node.name.isdecimal():
            number = int(node.name)
            return self._word(outputs[number - 1] if 0 < number <= len(outputs) else node)
        if isinstance(node, exp.Column) and not node.table:
            named = (each for each in outputs if isinstance(each, exp.Alias))
            return self._word(next((each for each in named if each.alias == node.name), node))
        return self._word(node)

    def _word(self, node: exp.Expr) -> str:
        """The words for an expression."""
        # sqlglot writes some negations as a NOT around, and some as an argument.
        return self._negate(node) if node.args.get("negate") else self._affirm(node)

    def _affirm(self, node: exp.Expr) -> str:
        match node:
            case exp.Alias():
                return self._word(node.this)
            case exp.Paren():
                return f"({self._word(node.this)})"
            case exp.Column():
                return self._name_column(node)
            case exp.Star():
                return "all columns"
            case exp.And():
                return f"{self._word(node.this)} and {self._word(node.expression)}"
            case exp.Or():
                return f"{self._word(node.this)} or {self._word(node.expression)}"
            case exp.Not():
                return self._negate(node.this)
            case exp.Between():
                low, high = self._word(node.args["low"]), self._word(node.args["high"])
                return f"{self._word(node.this)} is between {low} and {high}"
            case exp.Is(expression=exp.Null()):
                return f"{self._word(node.this)} is missing"
            case exp.In():
                return f"{self._word(node.this)} is one of {self._list_members(node)}"
            case exp.Exists():
                return f"there is any ({self._nest(node.this)})"
            case exp.Subquery() | exp.Select():
                return f"({self._nest(node)})"
            case exp.Coalesce() if len(node.expressions) == 1:
                return f"{self._word(node.this)} (or {self._word(node.expressions[0])})"
            case exp.CurrentDate():
                return "today"
            case exp.CurrentTimestamp():
                return "now"
            case exp.Interval(this=exp.Literal() as size, unit=exp.Var() as unit):
                return f"{size.name} {unit.name.lower()}"
        return self._word_date_part(node) or self._word_operator(node)

    def _word_date_part(self, node: exp.Expr) -> str:
        """Empty for what is no part of a date."""
        part, date = "", node.this
        match node:
            case exp.Extract():
                part, date = node.name.lower(), node.expression
            case exp.TimestampTrunc() | exp.DateTrunc():
                part = node.text("unit").lower()
            case exp.TimeToStr():
                part = _DATE_FORMATS.get(node.text("format"), "")
            case _:
                part = next((word for kind, word in _DATE_PARTS if isinstance(node, kind)), "")
        return f"the {part} of {self._word(date)}" if part else ""

    def _word_operator(self, node: exp.Expr) -> str:
        for kind, words in _COMPARISONS:
            if isinstance(node, kind):
                return f"{self._word(node.this)} {words} {self._word(node.expression)}"
        for kind, words in _AGGREGATES:
            if isinstance(node, kind):
                return f"{words} {self._word_counted(node)}"
        for kind, sign in _CALCULATIONS:
            if isinstance(node, kind):
                return f"{self._word(node.this)} {sign} {self._word(node.expression)}"
        if isinstance(node, _FORMS):
            return self._word(node.this)
        plain = node.copy()
        plain.set("negate", None)
        return _shorten(plain.sql(dialect=self._dialect))

    def _word_counted(self, aggregate: exp.Expr) -> str:
        inner = aggregate.this
        if isinstance(inner, exp.Distinct):
            return f"different {_enumerate([self._word(counted) for counted in inner.expressions])}"
        if inner is None or isinstance(inner, exp.Star):
            return "rows"
        return self._word(inner)

    def _negate(self, node: exp.Expr) -> str:
        match node:
            case exp.Is(expression=exp.Null()):
                return f"{self._word(node.this)} is known"
            case exp.In():
                return f"{self._word(node.this)} is none of {self._list_members(node)}"
            case exp.Exists():
                return f"there is no ({self._nest(node.this)})"
        return f"not ({self._affirm(node)})"

    def _list_members(self, node: exp.In) -> str:
        if query := node.args.get("query"):
            return f"({self._nest(query)})"
        return _enumerate([self._word(expression) for expression in node.expressions])

    def _name_column(self, column: exp.Column) -> str:
        name = "all columns" if isinstance(column.this, exp.Star) else column.name
        if len(self._sources) < 2 or not column.table:
            return name
        return f"{self._names.get(column.table.lower(), column.table)}.{name}"


def _list_sources(select: exp.Select) -> list[exp.Expr]:
    from_ = select.args.get("from_") or select.args.get("from")
    first = [from_.this] if from_ is not None else []
    return [*first, *(join.this for join in select.args.get("joins") or ())]


def _compares_columns(join: exp.Join) -> bool:
    """Whether a join is by equal columns and nothing else."""
    if join.args.get("using"):
        return True
    condition = join.args.get("on")
    if condition is None:
        return False
    parts = condition.flatten() if isinstance(condition, exp.And) else (condition,)
    return all(
        isinstance(part, exp.EQ)
        and isinstance(part.this, exp.Column)
        and isinstance(part.expression, exp.Column)
        for part in parts
    )


def _limit(tree: exp.Expr, dialect: str) -> list[str]:
    limit = tree.args.get("limit")
    if limit is None:
        return []
    count = limit.args.get("expression") or limit.args.get("count")
    text = count.sql(dialect=dialect) if count is not None else "some"
    return ["only 1 row" if text == "1" else f"only {text} rows"]


def _enumerate(words: Sequence[str]) -> str:
    """The words as one phrase.

    >>> _enumerate(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _shorten(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}…"
