"""Stops queries of a few characters that would ask for gigabytes or never end, before they run.

Three kinds can be told from the text: generators of rows, what makes texts and expressions grow
(``growth.py``), and recursion without a bound. What cannot (a join without a condition, a recursion
over data that goes in circles) is left to the estimate of the plan and to the limits of time, rows
and bytes.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Sequence

from sqlglot import exp

from execution.fragments import quote_fragment
from execution.guard.growth import find_growth
from execution.guard.measured_functions import MOST_FILLED, measure_format, name_call
from execution.name_resolution.scopes import Resolution, Source
from nl2sql.types import Violation

# Rows that one generator may make. A day for 270 years, or every second of a day.
_MOST_ROWS = 100_000
# What a function may repeat or pad to in one call.
_MOST_TIMES = 10_000
_LARGEST_FACTORIAL = 1000
# Of a path in a JSON document: each ** gives as many values again as the document has levels, each
# comma in brackets may double them.
_MOST_DESCENTS = 1
_MOST_COMMAS = 10
# The growth of a replacement whose length the text does not tell.
_UNKNOWN_GROWTH = 100

# No longer than what any database takes, and than Python reads.
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_DAYS = {"day": 1, "week": 7, "month": 28, "quarter": 90, "year": 365}
_GENERATORS = (exp.GenerateSeries,)
_NAMED = (exp.Alias, exp.Kwarg, exp.PropertyEQ)
# ``@?`` and ``@@``; the latter searches texts, too.
_PATHS = (exp.JSONBPathExists, exp.MatchAgainst)
_SUSPECTS = (
    *_GENERATORS,
    exp.CTE,
    exp.Pad,
    exp.RegexpReplace,
    exp.Repeat,
    exp.Replace,
)


def find_bomb(nodes: Sequence[exp.Expr], found: Resolution) -> Violation | None:
    """Why the query could explode, or None.

    ``nodes`` are all of its tree, ``found`` is what its names were resolved to.
    """
    for node in nodes:
        if violation := _check_arguments(node):
            return violation
        if check := _CHECKS.get(name_call(node)):
            if violation := check(node):
                return violation
            continue
        if isinstance(node, _PATHS) and (violation := _check_path(node)):
            return violation
        if not isinstance(node, _SUSPECTS):
            continue
        violation = None
        if isinstance(node, _GENERATORS):
            violation = _check_generator(node)
        elif isinstance(node, exp.CTE):
            violation = _check_recursion(node, found)
        elif _measure_growth(node) is None:
            fragment = quote_fragment(node)
            message = f"{fragment}: write how often as a number of at most {_MOST_TIMES}."
            violation = Violation("too_much_text", fragment, message)
        if violation is not None:
            return violation
    return find_growth(nodes, found, factor=_measure_factor, rows=_count_generated)


# -- generators --------------------------------------------------------------------------------


def _check_generator(node: exp.Expr) -> Violation | None:
    start, end, step = (node.args.get(key) for key in ("start", "end", "step"))
    fragment = quote_fragment(node)
    refusal = Violation(
        "too_many_rows",
        fragment,
        f"{fragment} needs constant bounds, at most {_MOST_ROWS} steps apart (LEAST(bound, number) "
        "will do), or a step of at least a day.",
    )
    days = _read_days(step)
    width = 1.0 if step is None else _read_number(step)
    first, last = _read_number(start), _read_bounded(end, width)
    if first is not None and last is not None:
        return None if width and abs(last - first) / abs(width) <= _MOST_ROWS else refusal
    from_, to = _read_date(start), _read_date(end)
    if days is None:
        return refusal
    if from_ is not None and to is not None and abs((to - from_).days) / days > _MOST_ROWS:
        return refusal
    # Bounds from the data: dates lie so close together that a day's step is bound enough.
    return None if days >= 1 else refusal


def _read_bounded(node: object, width: float | None) -> float | None:
    """A number, or the number which ``least(…)`` or ``greatest(…)`` keeps a bound from passing."""
    if isinstance(node, exp.Anonymous) and width:
        if name_call(node) != ("least" if width > 0 else "greatest"):
            return None
        found = [number for each in node.expressions if (number := _read_number(each)) is not None]
        return (min if width > 0 else max)(found, default=None)
    return _read_number(node)


def _count_generated(node: exp.Expr) -> float:
    """How many rows a generator makes at most; 1 for anything else."""
    if isinstance(node, exp.SetOperation):
        # A recursion, of which all that is known is that it ends.
        return _MOST_ROWS
    if not isinstance(node, _GENERATORS):
        return 1.0
    step = _read_number(node.args.get("step"))
    start = _read_number(node.args.get("start"))
    end = _read_bounded(node.args.get("end"), step or 1.0)
    if start is None or end is None:
        return float(_MOST_ROWS)
    return abs(end - start) / abs(step or 1.0) + 1


def _read_number(node: object) -> float | None:
    """A number written as such, with or without a sign or a cast."""
    if isinstance(node, exp.Neg):
        value = _read_number(node.this)
        return None if value is None else -value
    if isinstance(node, exp.Cast | exp.Paren):
        return _read_number(node.this)
    if isinstance(node, exp.Literal) and not node.is_string:
        try:
            return float(node.name)
        except ValueError:
            return None
    return None


def _read_date(node: object) -> dt.date | None:
    if isinstance(node, exp.Cast | exp.Paren):
        return _read_date(node.this)
    if isinstance(node, exp.Literal):
        try:
            return dt.date.fromisoformat(node.name[:10])
        except ValueError:
            return None
    return None


def _read_days(node: object) -> float | None:
    """How many days a constant interval lasts at least; None when it is no interval of days."""
    if isinstance(node, exp.Cast | exp.Paren):
        return _read_days(node.this)
    if isinstance(node, exp.Interval):
        number = node.this.name if isinstance(node.this, exp.Expr) else ""
        unit = node.args.get("unit")
        words = [*number.split(), unit.name if isinstance(unit, exp.Expr) else ""]
    elif isinstance(node, exp.Literal) and node.is_string:
        words = node.name.split()
    else:
        return None
    words = [word.lower() for word in words if word]
    if len(words) != 2 or not _WHOLE_NUMBER.fullmatch(words[0]):
        return None
    unit_days = _DAYS.get(words[1].removesuffix("s"))
    days = None if unit_days is None else abs(int(words[0])) * unit_days
    return days or None


# -- growing text ------------------------------------------------------------------------------


def _measure_factor(node: exp.Expr) -> float:
    """How many times longer the node may make a text, or a number, at most."""
    if not isinstance(node, exp.Anonymous | exp.Pow):
        return _measure_growth(node) or 1.0
    arguments = [node.this, node.expression] if isinstance(node, exp.Pow) else node.expressions
    number = _read_number(arguments[1]) if len(arguments) == 2 else None
    return math.inf if number is None else max(abs(number), 1.0)


def _measure_growth(node: exp.Expr) -> float | None:
    """How many times longer the node may make a text; None where that cannot be told."""
    if isinstance(node, exp.Repeat | exp.Pad):
        key = "times" if isinstance(node, exp.Repeat) else "expression"
        times = _read_number(node.args.get(key))
        return max(times, 1.0) if times is not None and times <= _MOST_TIMES else None
    old, new = node.expression, node.args.get("replacement")
    if not isinstance(new, exp.Literal):
        return _UNKNOWN_GROWTH
    if isinstance(node, exp.RegexpReplace):
        # An empty match stands between any two letters; \1 and \& bring the match along.
        return len(new.name) + 1.0 if new.name else 1.0
    shortest = len(old.name) if isinstance(old, exp.Literal) and old.name else 1
    return max(1.0, len(new.name) / shortest)


def _check_arguments(node: exp.Expr) -> Violation | None:
    """Refuses arguments of what is measured that stand elsewhere than they seem to."""
    if name_call(node) not in _CHECKS and not isinstance(node, _SUSPECTS):
        return None
    kinds = (*_NAMED, exp.Variadic) if isinstance(node, _SUSPECTS) else _NAMED
    if not any(isinstance(each, kinds) for each in node.iter_expressions()):
        return None
    fragment = quote_fragment(node)
    return Violation("too_much_text", fragment, f"{fragment}: write its arguments one by one.")


def _check_format(node: exp.Expr) -> Violation | None:
    """Refuses ``format`` with a text that is no constant, or with a width that makes it long."""
    measured = measure_format(node)
    if measured is not None and measured[1] <= 2 * _MOST_TIMES:
        return None
    fragment = quote_fragment(node)
    return Violation(
        "too_much_text",
        fragment,
        f"{fragment}: write the format as a constant, with widths of at most {_MOST_TIMES}.",
    )


def _check_factorial(node: exp.Expr) -> Violation | None:
    number = _read_number(node.expressions[0]) if len(node.expressions) == 1 else None
    if number is not None and number <= _LARGEST_FACTORIAL:
        return None
    fragment = quote_fragment(node)
    message = f"{fragment}: write a number of at most {_LARGEST_FACTORIAL}."
    return Violation("too_much_text", fragment, message)


def _check_fill(node: exp.Expr) -> Violation | None:
    """Refuses ``array_fill`` unless constants tell how many elements it makes."""
    sizes = node.expressions[1] if len(node.expressions) > 1 else None
    written = sizes.expressions if isinstance(sizes, exp.Array) else []
    numbers = [number for each in written if (number := _read_number(each)) is not None]
    if written and len(numbers) == len(written) and math.prod(numbers) <= MOST_FILLED:
        return None
    fragment = quote_fragment(node)
    message = f"{fragment}: write the sizes as numbers, at most {MOST_FILLED} elements in all."
    return Violation("too_much_text", fragment, message)


def _check_path(node: exp.Expr) -> Violation | None:
    """Refuses a path in a JSON document that is no constant or may give values without end.

    A column behind ``@@`` is what a text is searched for: no cast makes a path.
    """
    if isinstance(node, exp.MatchAgainst):
        path = node.this
        if isinstance(path, exp.Column):
            return None
    elif isinstance(node, exp.Anonymous):
        path = node.expressions[1] if len(node.expressions) > 1 else None
    else:
        path = node.expression
    path = path.unnest() if isinstance(path, exp.Expr) else None
    if (
        isinstance(path, exp.Literal)
        and path.name.count("**") <= _MOST_DESCENTS
        and path.name.count(",") <= _MOST_COMMAS
    ):
        return None
    fragment = quote_fragment(node)
    return Violation(
        "too_much_text",
        fragment,
        f"{fragment}: write the path as a constant with at most one ** and {_MOST_COMMAS} commas.",
    )


_CHECKS = {
    "array_fill": _check_fill,
    "factorial": _check_factorial,
    "format": _check_format,
    "jsonb_path_exists": _check_path,
    "jsonb_path_match": _check_path,
    "jsonb_path_query_first": _check_path,
    "printf": _check_format,
}


# -- recursion ---------------------------------------------------------------------------------


def _check_recursion(cte: exp.CTE, found: Resolution) -> Violation | None:
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
        "WHERE n < number.",
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
    ends = any(_counts(step, each, found) or _climbs(step, each, found) for each in sources)
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


def _climbs(step: exp.Select, source: Source, found: Resolution) -> bool:
    """Whether each step looks up the next higher (or lower) value: ``SELECT (SELECT min(x) …``."""
    if len(step.expressions) != 1 or not isinstance(step.expressions[0].unalias(), exp.Subquery):
        return False
    inner = step.expressions[0].unalias().this
    if not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
        return False
    where, value = inner.args.get("where"), inner.expressions[0].unalias()
    if where is None or name_call(value) not in ("min", "max") or len(value.expressions) != 1:
        return False
    up = name_call(value) == "min"
    for each in where.this.flatten() if isinstance(where.this, exp.And) else (where.this,):
        condition = each.unnest()
        if (
            isinstance(condition, exp.GT if up else exp.LT)
            and condition.this == value.expressions[0]
        ):
            return found.origins.get(id(condition.expression)) is source
    return False


def _counts(step: exp.Select, source: Source, found: Resolution) -> bool:
    """Whether a bound on a column ends the recursion, which moves that column towards it.

    What moves a column is the output in the column's own place, whatever that is called.
    """
    names, where = [name.lower() for name in source.columns], step.args.get("where")
    if where is None:
        return False
    if len(names) < len(step.expressions) or any(each.is_star for each in step.expressions):
        # The text does not tell the places: there is a star in the first part, or in the step.
        return False
    moved = {
        name: up
        for name, output in zip(names, step.expressions, strict=False)
        for column, up in _read_moves(output)
        if column.name.lower() == name
        and names.count(name) == 1
        and found.origins.get(id(column)) is source
    }
    for condition in where.this.flatten() if isinstance(where.this, exp.And) else (where.this,):
        column, below = _read_bound(condition.unnest()) or (None, False)
        if (
            column is not None
            and found.origins.get(id(column)) is source
            and moved.get(column.name.lower()) is below
            and not _uses(condition.find_all(exp.Subquery), source, found)
        ):
            return True
    return False


def _uses(parts: Iterable[exp.Expr], source: Source, found: Resolution) -> bool:
    """Whether a column of the source stands within one of the parts."""
    columns = (column for part in parts for column in part.find_all(exp.Column))
    return any(found.origins.get(id(column)) is source for column in columns)


def _read_moves(output: exp.Expr) -> list[tuple[exp.Column, bool]]:
    """The columns that an output counts up (True) or down."""
    inner = output.unalias().unnest()
    while isinstance(inner, exp.Cast):
        inner = inner.this.unnest()
    if name_call(inner) in ("date", "datetime"):
        return _read_modifier(inner.expressions)
    if not isinstance(inner, exp.Add | exp.Sub):
        return []
    column, amount = inner.this.unnest(), inner.expression
    number = _read_number(amount)
    if not isinstance(column, exp.Column):
        return []
    if (number is not None and number >= 1) or (_read_days(amount) or 0) >= 1:
        return [(column, isinstance(inner, exp.Add))]
    return []


def _read_modifier(args: Sequence[exp.Expr]) -> list[tuple[exp.Column, bool]]:
    """The column that SQLite's ``date(column, '+1 day')`` counts up or down."""
    if len(args) != 2 or not isinstance(args[0], exp.Column):
        return []
    days = _read_days(args[1])
    return [(args[0], "-" not in args[1].name)] if days and days >= 1 else []


def _read_bound(condition: exp.Expr) -> tuple[exp.Column, bool] | None:
    """The column that a condition keeps below (True) or above a constant."""
    if not isinstance(condition, exp.LT | exp.LTE | exp.GT | exp.GTE):
        return None
    left, right = condition.this.unnest(), condition.expression.unnest()
    below = isinstance(condition, exp.LT | exp.LTE)
    if isinstance(right, exp.Column) and not isinstance(left, exp.Column):
        left, right, below = right, left, not below
    number = _read_number(right)
    if number is not None and abs(number) > _MOST_ROWS:
        return None
    is_constant = number is not None or _read_date(right) is not None
    is_date = isinstance(right, exp.CurrentDate | exp.CurrentTimestamp) or name_call(right) == "now"
    if isinstance(left, exp.Add | exp.Sub):
        if _read_number(left.expression) is None and _read_days(left.expression) is None:
            # Two columns may keep their distance.
            return None
        left = left.this.unnest()
    if isinstance(left, exp.Column) and (
        is_constant or is_date or isinstance(condition.expression, exp.Subquery)
    ):
        return left, below
    return None
