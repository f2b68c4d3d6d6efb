"""The revision of a PostgreSQL database's data: a text that differs after every change.

It has the server's snapshot: which transactions have ended. The snapshot changes with each
transaction that writes anything in any database of the server, whether data, a definition, a right
or a policy. None returns unless the server is restored from a backup, which restarts it, or
recovers from a crash of one of its processes, which may take back commits that did not wait for the
disk, and empties unlogged tables. So the time of the start and the last checkpoint, which ends a
recovery, belong to the revision; and the time at which the configuration was read.

The revision is empty, that is unknown, where equal snapshots do not mean equal rows: on a standby,
whose snapshot does not list running transactions; with a partition in another database; with a row
policy that is not ours, which may call any function. Foreign tables and views are left to
``execution/guard/repeatability.py``. A URL of several servers has no revision either. Does not see
that a load balancer behind one name leads to several servers.
"""

from __future__ import annotations

from psycopg.conninfo import conninfo_to_dict

from execution.postgres.pool import Connection

# Our own policies and no others have these names (``row_level_security/ddl.py``).
_REVISION = b"""
SELECT CASE WHEN pg_catalog.pg_is_in_recovery()
         OR EXISTS (SELECT FROM pg_catalog.pg_policy p
                      JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
                     WHERE c.relrowsecurity
                       AND NOT pg_catalog.starts_with(p.polname::text, 'quorumsql_'))
         OR EXISTS (SELECT FROM pg_catalog.pg_inherits i
                      JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid WHERE c.relkind = 'f')
       THEN ''
       ELSE pg_catalog.concat_ws(' ', extract(epoch FROM pg_catalog.pg_postmaster_start_time()),
                                 extract(epoch FROM pg_catalog.pg_conf_load_time()),
                                 (SELECT checkpoint_lsn FROM pg_catalog.pg_control_checkpoint()),
                                 pg_catalog.pg_current_snapshot()) END
"""


async def read_revision(connection: Connection) -> str:
    """The revision, or an empty text. Raises psycopg.Error, before PostgreSQL 13 in any case."""
    row = await (await connection.execute(_REVISION)).fetchone()
    return str(row[0]) if row else ""


def names_one_server(url: str) -> bool:
    """Whether all connections of a URL lead to the same server.

    >>> names_one_server("postgresql://one/shop"), names_one_server("postgresql://one,two/shop")
    (True, False)
    """
    found = conninfo_to_dict(url)
    return "," not in f"{found.get('host', '')}{found.get('hostaddr', '')}"
