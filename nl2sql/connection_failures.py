"""Says why a connection to PostgreSQL failed, and what to do about it.

libpq has no SQLSTATE for a connection that was never made, only a text. It is shown as it is; the
remedy is found by its words, which are English unless the server writes another language.

Knows no driver.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_PLACE = re.compile(
    r'^connection (?:failed|is bad): connection to server (at "[^"]*"(?: \([^)]*\))?, port \d+|'
    r'on socket "[^"]*") failed: (.*)$'
)
_REMEDIES: Final[Mapping[str, str]] = {
    "password authentication failed": "Check the password in the variable that `password_env` "
    "names, and whether the role exists: the server says the same of a role that it does not know.",
    "no password supplied": "The role needs a password: put it into an environment variable and "
    "name that in `password_env`.",
    r'role "[^"]*" does not exist': "Correct the role in the URL, or create it.",
    "not permitted to log in": "Let the role log in: ALTER ROLE … LOGIN.",
    "tenant or user not found": "This pooler wants the role as NAME.PROJECT.",
    r'database "[^"]*" does not exist': "Correct the name at the end of the URL, or create the "
    "database; one of `embedded` is created by `quorumsql index build`.",
    "permission denied for database": "As the owner of the database: GRANT CONNECT ON DATABASE … "
    "TO the role.",
    r"pg_hba\.conf": "The server's pg_hba.conf does not let this role in from this machine: add a "
    "line for it and reload the server.",
    "root certificate file|certificate verify failed": "Name the authority that signed the "
    "server's certificate in the URL: sslrootcert=FILE, or sslrootcert=system for those that this "
    "machine trusts.",
    "does not match host name": "Name the host in the URL as the server's certificate does.",
    "connection refused": "Start the server, or correct host and port in the URL.",
    "resolve host|translate host name": "Correct the name of the host in the URL.",
    "no such file or directory|permission denied": "Start the server, or correct the folder of "
    "its socket in the URL.",
    "does not support ssl": "Switch SSL on in the server, or leave sslmode out of the URL.",
    "ssl|certificate": "Check sslmode and sslrootcert in the URL against the server's certificate.",
    "too many connections|too many clients|connection slots": "Raise max_connections of the "
    "server, or set a lower `limits.pool_size`.",
    "statement pooling mode": "Set this pooler to `pool_mode = transaction` or `session`.",
    "startup parameter": "A pooler refuses an option of the URL: leave it out, or let the pooler "
    "ignore it (ignore_startup_parameters).",
    "starting up|shutting down|recovery mode": "Wait until the server is ready.",
    "timeout|timed out|no route to host|unreachable": "Check host and port in the URL, and whether "
    "a firewall is in between.",
    # Whatever else it says.
    "": "Check host, port, database, role and password.",
}


def explain_failure(error: Exception) -> str:
    r"""The cause in the server's words, where it arose, and what to do.

    >>> explain_failure(Exception(
    ...     'connection failed: connection to server at "db", port 1 failed: Connection refused\n'
    ...     '\tIs the server running on that host?'))
    'Connection refused (at "db", port 1). Start the server, or correct host and port in the URL.'
    >>> explain_failure(TimeoutError())
    'Timed out. Check host and port in the URL, and whether a firewall is in between.'
    """
    text = str(error).strip().partition("\n")[0] or "Timed out"
    if found := _PLACE.match(text):
        text = f"{found[2].removeprefix('FATAL:').strip()} ({found[1]})"
    told = (remedy for words, remedy in _REMEDIES.items() if re.search(words, text, re.IGNORECASE))
    return f"{text}. {next(told)}"
