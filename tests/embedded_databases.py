"""Databases of the embedded PostgreSQL that single tests fill."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from execution.postgres.embedded import SUPERUSER, EmbeddedServer, grant_reader


@contextmanager
def fill_database(
    server: EmbeddedServer, name: str, script: str, afterwards: str = ""
) -> Iterator[str]:
    """Its superuser's URL, until it is dropped; the reader may read all that ``script`` makes.

    ``afterwards`` may take rights of the reader away.
    """
    server.drop_database(name)
    server.create_database(name)
    url = server.url(name, SUPERUSER)
    with psycopg.connect(url) as connection:
        connection.execute(script.encode())
        grant_reader(connection)
        connection.execute(afterwards.encode())
    yield url
    server.drop_database(name)
