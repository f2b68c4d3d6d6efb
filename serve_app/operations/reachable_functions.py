"""Finds functions in PostgreSQL that the reader can execute but no query should call.

The guard refuses them. Revoking them in the database protects against gaps in the guard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from execution.postgres.functions import DEFINER, ReachableFunction, find_reachable
from nl2sql.connection_failures import find_login
from serve_app.composition.wiring import Wiring
from serve_app.operations.row_level_security import find_reader

_HEAD = """\
-- Revokes the functions that {login} can execute in {database} and no query should call.
-- Run it in that database, as a superuser or as the owner of each function.
-- All other roles except the owner lose these functions too: GRANT them to roles that need them.
-- pg_dump without a superuser needs set_config; readers of pg_stat_activity need
-- pg_stat_get_activity; an index of the service in the same database needs pg_advisory_…lock.
-- The service's own settings use SET LOCAL and need none of them.
"""


def find_functions(wiring: Wiring, database: str) -> tuple[ReachableFunction, ...]:
    """Finds what a PostgreSQL database's reader, or a role it can switch to, can execute.

    Raises SettingsError, DatabaseUnavailable.
    """
    url = wiring.reader_url(database)
    return find_reachable(url, find_login(url), database)


def render_revocations(wiring: Wiring, database: str) -> str:
    """The REVOKE statements, for psql. Raises SettingsError, DatabaseUnavailable."""
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
    """The number of functions of each family, in one line; empty if there are none.

    >>> one = ReachableFunction("sleep", "pg_sleep(float8)", "FUNCTION", ("PUBLIC",), "postgres")
    >>> describe_families([one, one])
    'sleep (2)'
    """
    counts = Counter(function.family for function in functions)
    return ", ".join(f"{family} ({count})" for family, count in counts.items())
