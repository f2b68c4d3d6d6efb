"""The layout of the index's tables: reads its number, and brings it to the newest.

Each file ``layout_NNNN.sql`` is a step, called by the number of the layout that it makes from the
one before. A new index runs all of them, so that the tables are defined there alone; released steps
are not edited. Every step keeps examples, feedback, sessions and keys. Indexes can be built again:
a step that changes their tables empties them. A service of the version before may still be running,
so steps rather add than rename.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from psycopg import AsyncConnection

from nl2sql.errors import IndexUnavailable

_RECORD = """
CREATE TABLE IF NOT EXISTS quorumsql.layout (version int NOT NULL);
DELETE FROM quorumsql.layout;
INSERT INTO quorumsql.layout VALUES ({});
"""


@cache
def read_steps() -> dict[int, bytes]:
    """The statements of each layout's step, in order; the last is the newest layout."""
    paths = sorted(Path(__file__).parent.glob("layout_*.sql"))
    return {int(path.stem[-4:]): path.read_bytes() for path in paths}


async def check_layout(connection: AsyncConnection[Any]) -> None:
    """Raises IndexUnavailable unless the index exists in the newest layout. Changes nothing."""
    found, newest = await _find(connection), max(read_steps())
    if found < newest:
        raise IndexUnavailable(
            f"The index has layout {found}; this version of QuorumSQL migrates it to {newest} "
            "when it starts.",
            hint="Run `quorumsql index build`, or start the service.",
        )


async def open_layout(connection: AsyncConnection[Any]) -> None:
    """Migrates an index of an older layout. Raises IndexUnavailable, also if there is no index."""
    if await _find(connection) < max(read_steps()):
        await migrate(connection)


async def migrate(connection: AsyncConnection[Any]) -> None:
    """Runs all missing steps, each in its own transaction; for a new index, all steps.

    Safe to run concurrently: each step runs once. The connection is in autocommit mode. Raises
    IndexUnavailable if a step fails; the index then keeps the layout before that step.
    """
    for number, statements in read_steps().items():
        async with connection.transaction():
            await lock_layout(connection)
            done = await _read(connection) or 0
            _check_known(done)
            if number <= done:
                continue
            try:
                # Readers queue behind a step that waits for a table, so it must not wait long.
                await connection.execute("SET LOCAL lock_timeout = '30s'")
                await connection.execute(statements)
                await connection.execute(_RECORD.format(number).encode())
            except psycopg.Error as error:
                raise IndexUnavailable(
                    f"The index keeps layout {done}: its migration to {number} failed: "
                    f"{str(error).partition(chr(10))[0]}",
                    hint="The step was undone, nothing is lost. The role of index.connection must "
                    "own the tables of the schema quorumsql.",
                ) from error


async def lock_layout(connection: AsyncConnection[Any]) -> None:
    """Takes the lock for setting up and migrating the index, until the transaction ends."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtext('quorumsql layout'))")


async def _find(connection: AsyncConnection[Any]) -> int:
    found = await _read(connection)
    if found is None:
        raise IndexUnavailable(
            "The index has not been set up.", hint="Run `quorumsql index build`."
        )
    _check_known(found)
    return found


async def _read(connection: AsyncConnection[Any]) -> int | None:
    """The number of the existing layout; None if there is none."""
    # Not to_regclass: its cache may not show yet what other sessions just created.
    cursor = await connection.execute(
        "SELECT 1 FROM pg_class WHERE relname = 'layout'"
        " AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'quorumsql')"
    )
    if await cursor.fetchone() is None:
        return None
    row = await (await connection.execute("SELECT version FROM quorumsql.layout")).fetchone()
    return row[0] if row else None


def _check_known(found: int) -> None:
    oldest, newest = min(read_steps()), max(read_steps())
    if 0 < found < oldest:
        raise IndexUnavailable(
            f"The index has layout {found}; layouts before {oldest} cannot be brought to it.",
            hint="Drop it, with its examples and feedback, by `quorumsql index drop --all`, and "
            "run `quorumsql index build`.",
        )
    if found > newest:
        raise IndexUnavailable(
            f"The index has layout {found}, made by a newer version of QuorumSQL; this one knows "
            f"layouts up to {newest}.",
            hint="Use that version or a newer one.",
        )
