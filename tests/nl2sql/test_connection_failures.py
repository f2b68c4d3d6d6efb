"""What operators are told of a connection that failed: the cause in libpq's words, and a remedy."""

from __future__ import annotations

import pytest

from nl2sql.connection_failures import explain_failure

SERVER = 'connection failed: connection to server at "10.0.0.7", port 5432 failed: '


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (f'{SERVER}FATAL:  password authentication failed for user "rd"', "`password_env`"),
        (f"{SERVER}fe_sendauth: no password supplied", "needs a password"),
        (f'{SERVER}FATAL:  role "rd" does not exist', "Correct the role"),
        (f'{SERVER}FATAL:  role "rd" is not permitted to log in', "LOGIN"),
        (f'{SERVER}FATAL:  database "shpo" does not exist', "end of the URL"),
        (f'{SERVER}FATAL:  permission denied for database "shop"', "GRANT CONNECT"),
        (f'{SERVER}FATAL:  no pg_hba.conf entry for host "10.0.0.8"', "pg_hba.conf does not let"),
        (f"{SERVER}server does not support SSL, but SSL was required", "Switch SSL on"),
        (f"{SERVER}SSL error: certificate verify failed", "sslrootcert=FILE"),
        (f'{SERVER}root certificate file "/x/root.crt" does not exist', "sslrootcert=system"),
        (
            f'{SERVER}server certificate for "db" does not match host name "10.0.0.7"',
            "Name the host",
        ),
        (f"{SERVER}FATAL:  sorry, too many clients already", "max_connections"),
        (f"{SERVER}FATAL:  remaining connection slots are reserved", "max_connections"),
        (f"{SERVER}FATAL:  unsupported startup parameter: options", "pooler"),
        (f"{SERVER}FATAL:  the database system is starting up", "Wait"),
        (f"{SERVER}FATAL:  Tenant or user not found", "NAME.PROJECT"),
        (f"{SERVER}timeout expired", "firewall"),
        ("failed to resolve host 'db': [Errno -2] Name or service not known", "name of the host"),
        (f"{SERVER}FATAL:  etwas anderes", "Check host, port, database, role and password."),
    ],
)
def test_each_cause_has_a_remedy(said: str, told: str) -> None:
    text = explain_failure(Exception(f"{said}\n\tIs the server running?"))
    assert told in text
    assert "Is the server running" not in text
    if said.startswith(SERVER):
        cause = said.removeprefix(SERVER).removeprefix("FATAL:").strip()
        assert text.startswith(f'{cause} (at "10.0.0.7", port 5432). ')


def test_a_socket_without_a_server_is_named() -> None:
    said = (
        'connection is bad: connection to server on socket "/run/.s.PGSQL.5432" failed: '
        "No such file or directory"
    )
    text = explain_failure(Exception(said))
    assert text.startswith('No such file or directory (on socket "/run/.s.PGSQL.5432"). Start')
