"""Samples the values of a PostgreSQL database for key inference."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg
from psycopg import sql

from retrieval.introspection.key_samples import TIMEOUT_S, SqlSampler, build_unavailable


@contextmanager
def open_postgres_sampler(url: str, *, database: str, role: str = "") -> Iterator[SqlSampler]:
    """A sampler over a new connection, as ``role`` if one is given. Raises DatabaseUnavailable."""
    options = (
        f"-c default_transaction_read_only=on -c statement_timeout={int(TIMEOUT_S * 1000)} "
        # Table names are qualified; the operator "=" must be PostgreSQL's own.
        "-c search_path=pg_catalog"
    )
    try:
        connection = psycopg.connect(url, connect_timeout=5, autocommit=True, options=options)
        if role:
            connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(role)))
    except psycopg.Error as error:
        raise build_unavailable(database, error) from error

    def run(query: str) -> tuple[Any, ...] | None:
        try:
            return connection.execute(query.encode()).fetchone()
        except psycopg.Error as error:
            if connection.broken:
                raise build_unavailable(database, error) from error
            return None

    with closing(connection):
        yield SqlSampler(run)
