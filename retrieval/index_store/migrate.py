"""The layout of the index's tables: reads its version and migrates it to the newest one.

The version is the number of the last migration that ran (see ``migrations``), stored in
``quorumsql.layout``. The first layout had no such table.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import AsyncConnection

from nl2sql.errors import IndexUnavailable
from retrieval.index_store.migrations import Step, read_steps

_RECORD = """
CREATE TABLE IF NOT EXISTS quorumsql.layout (version int NOT NULL);
DELETE FROM quorumsql.layout;
INSERT INTO quorumsql.layout VALUES ({});
"""


async def read_layout(connection: AsyncConnection[Any]) -> int | None:
    """The version of the existing layout; None if there is none."""
    # Not to_regclass: its cache may not show yet what other sessions just created.
    cursor = await connection.execute(
        "SELECT relname FROM pg_class WHERE relname IN ('layout', 'databases')"
        " AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'quorumsql')"
    )
    tables = {row[0] for row in await cursor.fetchall()}
    if "layout" not in tables:
        return 1 if "databases" in tables else None
    row = await (await connection.execute("SELECT version FROM quorumsql.layout")).fetchone()
    return row[0] if row else None


async def check_layout(connection: AsyncConnection[Any]) -> None:
    """Raises IndexUnavailable unless the index exists in the newest layout. Changes nothing."""
    found, newest = await _find(connection), read_steps()[-1].number
    if found < newest:
        raise IndexUnavailable(
            f"The index has layout {found}; this version of QuorumSQL migrates it to {newest} "
            "when it starts.",
            hint="Run `quorumsql index build`, or start the service.",
        )


async def open_layout(connection: AsyncConnection[Any]) -> None:
    """Migrates an index of an older layout. Raises IndexUnavailable, also if there is no index."""
    if await _find(connection) < read_steps()[-1].number:
        await migrate(connection)


async def migrate(connection: AsyncConnection[Any]) -> None:
    """Runs all missing steps, each in its own transaction; for a new index, all steps.

    Safe to run concurrently: each step runs once. The connection is in autocommit mode. Raises
    IndexUnavailable if a step fails; the index then keeps the layout before that step.
    """
    steps = read_steps()
    done = 0
    while done < len(steps):
        async with connection.transaction():
            await lock_layout(connection)
            done = await read_layout(connection) or 0
            _check_known(done)
            if done < len(steps):
                await _run(connection, steps[done])
                done += 1


async def lock_layout(connection: AsyncConnection[Any]) -> None:
    """Takes the lock for setting up and migrating the index, until the transaction ends."""
    await connection.execute("SELECT pg_advisory_xact_lock(hashtext('quorumsql layout'))")


async def _run(connection: AsyncConnection[Any], step: Step) -> None:
    try:
        # Readers queue behind a step that waits for a table, so it must not wait long.
        await connection.execute("SET LOCAL lock_timeout = '30s'")
        await connection.execute(step.statements)
        await connection.execute(_RECORD.format(step.number).encode())
    except psycopg.Error as error:
        raise IndexUnavailable(
            f"The index keeps layout {step.number - 1}: its migration {step.name} failed: "
            f"{str(error).partition(chr(10))[0]}",
            hint="The step was undone, nothing is lost. The role of index.connection must own the "
            "tables of the schema quorumsql.",
        ) from error


async def _find(connection: AsyncConnection[Any]) -> int:
    found = await read_layout(connection)
    if found is None:
        raise IndexUnavailable(
            "The index has not been set up.", hint="Run `quorumsql index build`."
        )
    _check_known(found)
    return found


def _check_known(found: int) -> None:
    newest = read_steps()[-1].number
    if found > newest:
        raise IndexUnavailable(
            f"The index has layout {found}, made by a newer version of QuorumSQL; this one knows "
            f"layouts up to {newest}.",
            hint="Use that version or a newer one.",
        )
