"""Recursive queries: which of them end, as far as their text shows.

One that reads a table must follow a key; any other must count up (or down) to a
constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from execution.guard.growing_calls import (
    LEAST_STEP_DAYS,
    MOST_ROWS,
    read_date,
    read_days,
)
from execution.guard.value_sizes import name_call, read_number
from execution.guard_dialects import quote_fragment
from execution.name_resolution.scopes import Resolution, Source
from nl2sql.types import Violation


def check_recursion(cte: exp.CTE, found: Resolution, dialect: str) -> Violation | None:
    """Why a CTE that names itself may never end, or None."""
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
    sources = found.selects.get(id(step), ())
    if any(source.table is not None for source in sources):
        return None if _follows_a_key(step) else refusal
    where = step.args.get("where")
    if where is not None and names_itself(where):
        # A bound that is made of the recursion's rows may move along.
        return refusal
    multiplies = len(sources) != 1 or sources[0].origin is not body
    ends = any(_counts(step, source, found, dialect) for source in sources)
    return None if ends and not multiplies else refusal


def _follows_a_key(step: exp.Select) -> bool:
    """Whether some column of one source must equal one of another."""
    if any(join.args.get("using") for join in step.args.get("joins") or ()):
        return True
    for node in step.find_all(exp.EQ):
        left, right = node.this, node.expression
        are_columns = isinstance(left, exp.Column) and isinstance(right, exp.Column)
        if are_columns and (left.table != right.table or not left.table):
            return True
    return any(node.args.get("query") for node in step.find_all(exp.In))


def _counts(step: exp.Select, source: Source, found: Resolution, dialect: str) -> bool:
    """Whether a bound on a column ends the recursion, which moves that column towards it.

    What moves a column is the output in the column's own place, whatever that is called.
    """
    names, where = [name.lower() for name in source.columns], step.args.get("where")
    if where is None:
        return False
    if len(names) < len(step.expressions) or any(output.is_star for output in step.expressions):
        # The text does not tell the places: there is a star in the first part, or in the step.
        return False
    moved = {
        name: up
        for name, output in zip(names, step.expressions, strict=False)
        for column, up in _read_moves(output, dialect)
        if column.name.lower() == name
        and names.count(name) == 1
        and found.origins.get(id(column)) is source
    }
    for condition in _list_conditions(where):
        column, below = _read_bound(condition) or (None, False)
        if (
            column is not None
            and found.origins.get(id(column)) is source
            and moved.get(column.name.lower()) is below
            and not _uses(condition.find_all(exp.Subquery), source, found)
        ):
            return True
    return False


def _list_conditions(where: exp.Expr) -> list[exp.Expr]:
    """What a WHERE joins with AND, without parentheses around it."""
    condition = where.this
    parts = condition.flatten() if isinstance(condition, exp.And) else (condition,)
    return [part.unnest() for part in parts]


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


def _read_bound(condition: exp.Expr) -> tuple[exp.Column, bool] | None:
    """The column that a condition keeps below (True) or above a constant."""
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
    if isinstance(left, exp.Add | exp.Sub):
        if read_number(left.expression) is None and read_days(left.expression) is None:
            # Two columns may keep their distance.
            return None
        left = left.this.unnest()
    if isinstance(left, exp.Column) and (
        is_constant or is_date or isinstance(condition.expression, exp.Subquery)
    ):
        return left, below
    return None
