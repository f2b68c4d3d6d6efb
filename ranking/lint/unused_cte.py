"""A CTE that nothing reads."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding
from ranking.query import Query


def unused_cte(query: Query) -> Finding | None:
    """A warning for a CTE that is in no FROM.

    >>> from ranking.query import read_query
    >>> unused_cte(read_query("WITH c AS (SELECT 1) SELECT x FROM a", "postgres")).message
    'Nothing reads c.'
    >>> unused_cte(read_query("WITH c AS (SELECT 1) SELECT x FROM a, c", "postgres"))
    """
    read = {table.name.lower() for table in query.find_all(exp.Table) if not table.db}
    for cte in query.find_all(exp.CTE):
        if cte.alias.lower() not in read:
            return Finding("unused_cte", "warning", f"Nothing reads {cte.alias}.")
    return None
