"""Recursive queries: which of them end, as far as their text shows, and which make too much.

One that reads a table must follow a key; any other must count up (or down) to a constant.
``growth.py`` follows each for some steps and measures its outputs after each step; here it is
judged what they become later, and how much memory the rows take that a recursive UNION keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from execution.guard.growing_calls import (
    GENERATORS,
    LEAST_STEP_DAYS,
    MOST_ROWS,
    read_date,
    read_days,
)
from execution.guard.value_sizes import (
    NAMES,
    Sizes,
    measure_long,
    name_call,
    read_number,
)
from execution.guard_dialects import quote_fragment
from execution.name_resolution.scopes import Resolution, Source, Unresolved, refuse_node
from nl2sql.sql.nodes import list_conjuncts
from nl2sql.types import Violation


def check_recursion(
    cte: exp.CTE, found: Resolution, dialect: str, rounds: dict[int, float]
) -> Violation | None:
    """Why a CTE that names itself may never end, or None.

    Notes in ``rounds``, by the ``id`` of its query, how often it takes its step at most; 0 for one
    that follows a key.
    """
    name = cte.alias
    body = cte.this

    def names_itself(part: exp.Expr) -> bool:
        return any(table.name == name and not table.db for table in part.find_all(exp.Table))

    if not names_itself(body):
        return None
    refusal = Violation(
        "endless_recursion",
        quote_fragment(cte),
        "A recursive query must follow a key of a table, or count up to a bound with "
        "WHERE n < number, by at least 1 or an hour a step.",
    )
    if not isinstance(body, exp.SetOperation) or names_itself(body.this):
        # To SQLite each part that names the query is a step; one is looked at here.
        return refusal
    step = body.expression
    while isinstance(step, exp.Subquery):
        step = step.this
    if not isinstance(step, exp.Select):
        return refusal
    sources = tuple(found.selects.get(id(step), {}).values())
    if any(source.table is not None for source in sources):
        rounds[id(body)] = 0.0
        return None if _follows_a_key(body, step, found) else refusal
    where = step.args.get("where")
    if where is not None and names_itself(where):
        # A bound that is made of the recursion's rows may move along.
        return refusal
    if len(sources) != 1 or sources[0].origin is not body or _makes_rows(step):
        # Its rows are multiplied.
        return refusal
    most = _count_rounds(body, step, sources[0], found, dialect)
    if most is None:
        return refusal
    rounds[id(body)] = most
    return None


def _makes_rows(step: exp.Select) -> bool:
    """Whether an output makes several rows of each."""
    return any(
        (isinstance(call, (*GENERATORS, exp.Unnest)) or name_call(call) in NAMES["spreading"])
        and call.find_ancestor(exp.Select) is step
        for output in step.expressions
        for call in output.find_all(exp.Func)
    )


def _follows_a_key(body: exp.SetOperation, step: exp.Select, found: Resolution) -> bool:
    """Whether some column of one source must equal one of another, and moves on by that."""
    if any(join.args.get("using") for join in step.args.get("joins") or ()):
        return True
    for node in step.find_all(exp.EQ):
        left, right = node.this, node.expression
        are_columns = isinstance(left, exp.Column) and isinstance(right, exp.Column)
        if not are_columns or (left.table == right.table and left.table):
            continue
        if not any(_stays(column, (left, right), body, step, found) for column in (left, right)):
            return True
    return any(node.args.get("query") for node in step.find_all(exp.In))


def _stays(
    column: exp.Column,
    equal: tuple[exp.Column, ...],
    body: exp.SetOperation,
    step: exp.Select,
    found: Resolution,
) -> bool:
    """Whether the recursion's column gets one of those equal to it as its next value: itself."""

    def identify(node: exp.Expr) -> tuple[Source | None, str]:
        return found.origins.get(id(node)), node.name.lower()

    source, name = identify(column)
    if source is None or source.origin is not body or name not in source.columns:
        return False
    outputs, place = step.expressions, source.columns.index(name)
    if place >= len(outputs) or any(output.is_star for output in outputs):
        return False
    return identify(outputs[place].unalias()) in map(identify, equal)


def _count_rounds(
    body: exp.SetOperation, step: exp.Select, source: Source, found: Resolution, dialect: str
) -> float | None:
    """How often the step is taken at most until a bound on a column, which moves there, ends it.

    None without such a bound. What moves a column is the output in the column's own place, whatever
    that is called.
    """
    names, where = [name.lower() for name in source.columns], step.args.get("where")
    if where is None:
        return None
    if len(names) < len(step.expressions) or any(output.is_star for output in step.expressions):
        # The text does not tell the places: there is a star in the first part, or in the step.
        return None
    moved = {
        name: up
        for name, output in zip(names, step.expressions, strict=False)
        for column, up in _read_moves(output, dialect)
        if column.name.lower() == name
        and names.count(name) == 1
        and found.origins.get(id(column)) is source
    }
    rounds = []
    for condition in (part.unnest() for part in list_conjuncts(where.this)):
        column, below, bound = _read_bound(condition) or (None, False, None)
        if (
            column is not None
            and found.origins.get(id(column)) is source
            and moved.get(column.name.lower()) is below
            and not _uses(condition.find_all(exp.Subquery), source, found)
        ):
            rounds.append(_measure_way(body.this, names.index(column.name.lower()), bound))
    return min(rounds, default=None)


# The steps from a number that the text does not tell, or to one.
_UNKNOWN_WAY = 1e15


def _measure_way(base: exp.Expr, place: int, bound: exp.Expr | None) -> float:
    """The steps from what the first part has in that place to the bound."""
    base = base.unnest()
    outputs, source = base.expressions, base.args.get("from_")
    if base.is_star and source is not None and len(outputs) == 1 and not base.args.get("joins"):
        # VALUES (1), as sqlglot reads it.
        rows = source.this.expressions if isinstance(source.this, exp.Values) else []
        outputs = rows[0].expressions if len(rows) == 1 else []
    if len(outputs) <= place or any(output.is_star for output in outputs):
        return _UNKNOWN_WAY
    start = outputs[place].unalias()
    first, last = read_number(start), read_number(bound)
    if first is not None and last is not None:
        return abs(last - first) + 1
    from_, to = read_date(start), read_date(bound)
    if from_ is not None and to is not None:
        return abs((to - from_).days) / LEAST_STEP_DAYS + 1
    return _UNKNOWN_WAY


def _uses(parts: Iterable[exp.Expr], source: Source, found: Resolution) -> bool:
    """Whether a column of the source stands within one of the parts."""
    columns = (column for part in parts for column in part.find_all(exp.Column))
    return any(found.origins.get(id(column)) is source for column in columns)


def _read_moves(output: exp.Expr, dialect: str) -> list[tuple[exp.Column, bool]]:
    """The columns that an output counts up (True) or down."""
    inner = output.unalias().unnest()
    # What becomes a date loses its hours at each step, and would stay where it is. DuckDB casts
    # each step to the type of the first part.
    least = 1.0 if dialect == "duckdb" else LEAST_STEP_DAYS
    while isinstance(inner, exp.Cast):
        least = 1.0 if inner.to.this == exp.DType.DATE else least
        inner = inner.this.unnest()
    if name_call(inner) in ("date", "datetime"):
        return _read_modifier(inner.expressions, 1.0 if name_call(inner) == "date" else least)
    if not isinstance(inner, exp.Add | exp.Sub):
        return []
    column, amount = inner.this.unnest(), inner.expression
    number = read_number(amount)
    if not isinstance(column, exp.Column):
        return []
    if (number is not None and number >= 1) or (read_days(amount) or 0) >= least:
        return [(column, isinstance(inner, exp.Add))]
    return []


def _read_modifier(args: Sequence[exp.Expr], least: float) -> list[tuple[exp.Column, bool]]:
    """The column that SQLite's ``date(column, '+1 day')`` counts up or down."""
    if len(args) != 2 or not isinstance(args[0], exp.Column):
        return []
    days = read_days(args[1])
    return [(args[0], "-" not in args[1].name)] if days and days >= least else []


def _read_bound(condition: exp.Expr) -> tuple[exp.Column, bool, exp.Expr | None] | None:
    """The column that a condition keeps below (True) or above a constant, and that constant.

    None instead of the constant if the condition is on a sum.
    """
    if not isinstance(condition, exp.LT | exp.LTE | exp.GT | exp.GTE):
        return None
    left, right = condition.this.unnest(), condition.expression.unnest()
    below = isinstance(condition, exp.LT | exp.LTE)
    if isinstance(right, exp.Column) and not isinstance(left, exp.Column):
        left, right, below = right, left, not below
    number = read_number(right)
    if number is not None and abs(number) > MOST_ROWS:
        return None
    is_constant = number is not None or read_date(right) is not None
    is_date = isinstance(right, exp.CurrentDate | exp.CurrentTimestamp) or name_call(right) == "now"
    is_sum = isinstance(left, exp.Add | exp.Sub)
    if is_sum:
        if read_number(left.expression) is None and read_days(left.expression) is None:
            # Two columns may keep their distance.
            return None
        left = left.this.unnest()
    if isinstance(left, exp.Column) and (
        is_constant or is_date or isinstance(condition.expression, exp.Subquery)
    ):
        return left, below, None if is_sum else right
    return None


STEPS = 10
"""A recursive query is followed for so many steps."""

# Over the second half of them, what adds a piece at each becomes at most twice as long; what
# doubles, sixteen times.
_MOST_STEPPED = 4.0
# The most bytes of the rows of a recursive UNION, which PostgreSQL keeps in memory without a limit.
_MOST_KEPT = 2.0**28


def check_steps(query: exp.SetOperation, sizes: Sizes, halfway: Sizes) -> None:
    """Raises Unresolved if an output grew too fast between half of the steps and all of them."""
    for last, before in zip(sizes, halfway, strict=True):
        if last.bytes > _MOST_STEPPED * before.bytes:
            raise refuse_value(query)


def check_kept(
    query: exp.SetOperation,
    sizes: Sizes,
    halfway: Sizes,
    rounds: float,
    count: Callable[[exp.Expr], float],
) -> None:
    """Raises Unresolved for a recursive UNION of too much: PostgreSQL keeps all rows in memory.

    Its outputs have these sizes after the first steps, and after half of them. ``rounds`` is how
    often it takes its step, 0 if it follows a key; ``count`` tells the rows of its parts, in which
    the recursion is one row.
    """
    base = count(query.this)
    grown = sum(size.bytes for size in sizes) - sum(size.bytes for size in halfway)
    row = measure_long(sizes) + grown / (STEPS // 2 - 1) * rounds / 2
    # The rows of one that follows a key are those of tables, with all that is joined to them.
    rows = base * rounds or max(base, MOST_ROWS * count(query.expression))
    if rows * row > _MOST_KEPT:
        raise refuse_growth(
            query,
            "A recursive UNION keeps all its rows, which could take too much memory: write UNION "
            "ALL, or count from one constant to another, without long texts.",
        )


def refuse_value(node: exp.Expr) -> Unresolved:
    """The error for a node whose value becomes too long."""
    return refuse_growth(
        node,
        "A text or number made here could become far too long. Numbers do not grow as double "
        "precision.",
    )


def refuse_growth(node: exp.Expr, message: str) -> Unresolved:
    """The error for a node that makes too much."""
    return refuse_node(node, message, "too_much_text")
