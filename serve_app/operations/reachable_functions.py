"""What ``quorumsql doctor`` says of the functions that queries could reach in PostgreSQL.

The guard keeps queries from them. What the database does not let the reader execute, no gap in the
guard gives it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from execution.postgres.functions import DEFINER, ReachableFunction, find_reachable
from serve_app.composition.wiring import Wiring
from serve_app.operations.row_level_security import find_login, find_reader

_HEAD = """\
-- What {login} may execute in {database} and no query of the service should, with what ends it.
-- Run it in that database, as a superuser or as the owner of each function.
-- Everybody else but the owner loses these functions too: GRANT them to the roles that need one.
-- pg_dump run by anybody but a superuser needs set_config; pollers of pg_stat_activity need
-- pg_stat_get_activity; an index of the service in the same database needs pg_advisory_…lock.
-- The service makes its own settings with SET LOCAL and needs none of them.
"""


def find_functions(wiring: Wiring, database: str) -> tuple[ReachableFunction, ...]:
    """What the reader of a PostgreSQL database, or a role that it may become, may execute.

    Raises SettingsError, DatabaseUnavailable.
    """
    url = wiring.reader_url(database)
    return find_reachable(url, find_login(url), database)


def render_revocations(wiring: Wiring, database: str) -> str:
    """The statements that end it all, for psql. Raises SettingsError, DatabaseUnavailable."""
    lines = [_HEAD.format(login=find_reader(wiring, database), database=database)]
    family = ""
    for function in find_functions(wiring, database):
        if function.family != family:
            family = function.family
            lines.append(f"\n-- {family}\n")
        owner = f"  -- runs as {function.owner}" if family == DEFINER else ""
        lines.append(f"{function.revoke}{owner}\n")
    return "".join(lines)


def describe_families(functions: Sequence[ReachableFunction]) -> str:
    """How many of each family, in a line; empty when there are none.

    >>> one = ReachableFunction("sleep", "pg_sleep(float8)", "FUNCTION", ("PUBLIC",), "postgres")
    >>> describe_families([one, one])
    'sleep (2)'
    """
    counts = Counter(function.family for function in functions)
    return ", ".join(f"{family} ({count})" for family, count in counts.items())
