"""PostgreSQL: ``alias.name`` calls the function ``name`` where the alias has no such column.

Whatever stands in FROM can lose the name that the guard might believe it keeps: to an alias list,
a function's own rule, a join, a CTE's column list.
"""

from __future__ import annotations

from dataclasses import replace

from tests.attacks.attack import FOLDER, SECRET, Answers, Attack, Carries, Evidence, Lasts, Leaves

_READS_HIDDEN = "select array_to_tsvector(array_agg(name)) from main.employees"
_ADVISORY = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"


def _attack(name: str, sql: str, works: Evidence) -> Attack:
    return Attack("postgres", "calls", name, sql, works, "unknown_column")


def _read_hidden(name: str, source: str) -> Attack:
    """``source`` is a function's value, which alone of all a scalar stands for by its name."""
    sql = f"SELECT ts_stat.ts_stat FROM {source}"
    return _attack(f"ts_stat_of_{name}", sql, Carries("Dora"))


def _call_row(name: str, source: str, start: str = "") -> Attack:
    """``source`` bears the name of a function of rows, and has no column of that name."""
    sql = f"{start}SELECT row_to_json.row_to_json FROM {source}"
    return _attack(f"row_to_json_of_{name}", sql, Answers())


ATTACKS: list[Attack] = [
    # -- a query as text, which reads a table that the asker does not see --
    _read_hidden("a_function", f"unnest(ARRAY['{_READS_HIDDEN}']) AS ts_stat(x)"),
    _read_hidden("a_function_without_as", f"unnest(ARRAY['{_READS_HIDDEN}']) ts_stat(x)"),
    _read_hidden("a_quoted_alias", f'unnest(ARRAY[\'{_READS_HIDDEN}\']) AS "ts_stat"("X")'),
    _read_hidden("a_scalar_function", f"concat('{_READS_HIDDEN}') AS ts_stat(x)"),
    _read_hidden(
        "a_lateral_function", f"currencies AS c, LATERAL concat('{_READS_HIDDEN}') AS ts_stat(x)"
    ),
    _attack(
        "ts_stat_in_a_condition",
        "SELECT c.code FROM currencies AS c WHERE EXISTS (SELECT ts_stat.ts_stat FROM "
        f"unnest(ARRAY['{_READS_HIDDEN}']) AS ts_stat(x))",
        Answers(),
    ),
    _attack(
        "ts_stat_of_an_outer_query",
        "SELECT (SELECT count(*) FROM (SELECT ts_stat.ts_stat) AS s) FROM "
        f"concat('{_READS_HIDDEN}') AS ts_stat(x)",
        Answers(),
    ),
    # -- every kind of source that can lose a name --
    _call_row("a_subquery", "(SELECT 1 AS row_to_json) AS row_to_json(x)"),
    _call_row("a_lateral_subquery", "currencies c, LATERAL (SELECT c.code) row_to_json(x)"),
    replace(
        _call_row(
            "a_star_with_a_name",
            "(SELECT c.*, c.* AS row_to_json FROM currencies AS c) AS row_to_json",
        ),
        refused_as="node_not_allowed",
    ),
    _call_row("values", "(VALUES (1)) AS row_to_json(x)"),
    _call_row("unnamed_values", "(VALUES (1)) AS row_to_json"),
    _call_row(
        "a_subquery_in_a_subquery", "(SELECT * FROM (SELECT 1 AS row_to_json) t(x)) row_to_json"
    ),
    _call_row("a_union", "(SELECT 1 AS x UNION ALL SELECT 2 AS row_to_json) AS row_to_json"),
    _call_row("a_cte", "row_to_json", "WITH row_to_json(x) AS (SELECT 1 AS row_to_json) "),
    _call_row("a_renamed_cte", "c AS row_to_json(x)", "WITH c AS (SELECT 1 AS row_to_json) "),
    _call_row(
        "a_recursive_cte",
        "row_to_json",
        "WITH RECURSIVE row_to_json(x) AS (SELECT 1 AS row_to_json UNION "
        "SELECT x FROM row_to_json WHERE false) ",
    ),
    _call_row(
        "a_join",
        "(currencies AS a CROSS JOIN (SELECT 2 AS row_to_json) AS b) AS row_to_json(n, x, y)",
    ),
    _call_row("a_function_of_two", "unnest(ARRAY[1], ARRAY[2]) AS row_to_json(x, y)"),
    _call_row("an_ordinality", "unnest(ARRAY[1]) WITH ORDINALITY AS row_to_json(x)"),
    _call_row("a_table", "currencies AS row_to_json"),
    _attack(
        "row_to_json_by_three_names",
        "SELECT main.currencies.row_to_json FROM main.currencies",
        Answers(),
    ),
    # -- what such a call can do --
    _attack("sleep", "SELECT s.pg_sleep FROM abs(1) AS s(a)", Lasts(900)),
    _attack("lock", "SELECT l.pg_advisory_lock FROM abs(4711) AS l(a)", Leaves(_ADVISORY, ((1,),))),
    _attack("setting", "SELECT s.current_setting FROM concat('port') AS s(a)", Answers()),
    _attack("signal", "SELECT s.pg_cancel_backend IS NULL FROM abs(0) AS s(a)", Answers()),
    _attack(
        "file", f"SELECT f.pg_read_file FROM concat('{FOLDER}/secret.txt') AS f(a)", Carries(SECRET)
    ),
]
