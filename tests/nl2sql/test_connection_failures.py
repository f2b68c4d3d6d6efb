"""What operators are told of a connection that failed: the cause in libpq's words, and a remedy."""

from __future__ import annotations

import pytest

from nl2sql.connection_failures import explain_failure
from tests.golden import ARROW, load_cases

SERVER = 'connection failed: connection to server at "10.0.0.7", port 5432 failed: '


@pytest.mark.parametrize(("heading", "case"), load_cases("connection_failures"))
def test_each_cause_has_a_remedy(heading: str, case: str) -> None:
    said, _, told = case.partition(ARROW)
    whole = f"{SERVER}{said}" if heading == "server" else said
    text = explain_failure(Exception(f"{whole}\n\tIs the server running?"))
    assert told in text
    assert "Is the server running" not in text
    if heading == "server":
        cause = said.removeprefix("FATAL:").strip()
        assert text.startswith(f'{cause} (at "10.0.0.7", port 5432). ')


def test_a_socket_without_a_server_is_named() -> None:
    said = (
        'connection is bad: connection to server on socket "/run/.s.PGSQL.5432" failed: '
        "No such file or directory"
    )
    text = explain_failure(Exception(said))
    assert text.startswith('No such file or directory (on socket "/run/.s.PGSQL.5432"). Start')
