"""Restores a third party's database into the embedded server, once.

Reads a dump in pg_dump's custom format (``PGDMP``), by the embedded server's own ``pg_restore``, or
an SQL script such as pg_dump's plain format, with data behind ``COPY … FROM stdin``. Of psql's
commands it may have those with which pg_dump encloses it; the others are errors, as psql would run
programs and read files for them.

Restoring a dump runs the code in it. It therefore runs as ``quorumsql_restorer``, a role that owns
the new database and nothing else: no access to the server's files, no ``COPY … PROGRAM``, no other
database. That role stays the owner of the restored objects, so that their index expressions, views
and triggers never run with more rights.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path

import psycopg

from execution.postgres.embedded import RESTORER, EmbeddedServer
from nl2sql.errors import DatabaseUnavailable, SettingsError

# Increase it when a restore does something new besides the file's own statements.
_FORMAT_VERSION = 1
_TODAY = re.compile(
    rb"\b(current_(date|time|timestamp)|local(time|timestamp))\b"
    rb"|\b(now|age|(clock|statement|transaction)_timestamp)\s*\(",
    re.IGNORECASE,
)
_MAGIC = b"PGDMP"
# A statement on one line, its rows, and the line that ends them, all as pg_dump writes them.
_COPY = re.compile(
    rb"^(?P<statement>COPY [^\n]* FROM stdin[^\n]*;)\r?\n(?P<rows>(?:[^\n]*\n)*?)\\\.\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_RESTRICT = re.compile(rb"^\\(?:un)?restrict \w+\r?$", re.MULTILINE)
_ADVICE = "Dump it with `pg_dump --format=custom`, which is restored."
_ERROR = re.compile(r"\b(error|ERROR|FATAL|PANIC):")


def restore_postgres(server: EmbeddedServer, database: str, path: Path) -> bool:
    """Restores the dump or script at ``path`` into ``database``; False if that was done before.

    The database is dropped and restored again if the file or this code has changed, and on another
    day if the script names the current date, since its rows may depend on it. The reader may SELECT
    all of it. If several processes restore the same database, one does and the others wait.

    Raises SettingsError if the file is missing or cannot be restored, DatabaseUnavailable if the
    server does not answer.
    """
    is_dump = _is_custom_dump(path)
    with path.open("rb") as file:
        version = f"restored {_FORMAT_VERSION} {hashlib.file_digest(file, 'sha256').hexdigest()}"
        file.seek(0)
        if not is_dump and any(map(_TODAY.search, file)):
            version += f" {date.today()}"
    with _translating(database):
        fill = partial(_run, server, database, path, is_dump)
        return server.refill(database, version, fill, owner=RESTORER)


@contextmanager
def _translating(database: str) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise DatabaseUnavailable(
            f"Restoring {database} failed: {str(error).partition(chr(10))[0]}",
            database=database,
            hint="Run it again: the incomplete restore is dropped.",
        ) from error


def _is_custom_dump(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from error
    if start.startswith(_MAGIC):
        return True
    if b"\0" in start or start.startswith(b"\x1f\x8b"):
        raise SettingsError(
            f"{path} is neither a dump in pg_dump's custom format nor an SQL script.",
            hint=f"Unpack it. {_ADVICE}",
        )
    return False


def _run(server: EmbeddedServer, database: str, path: Path, is_dump: bool) -> None:
    """Runs pg_restore, or the script, to its end. Raises SettingsError."""
    url = server.url(database, RESTORER)
    if not is_dump:
        _run_script(url, path)
        return
    command = [str(server.bin_folder / "pg_restore"), "--no-owner", "--no-privileges"]
    command += ["--no-tablespaces", "--exit-on-error", f"--dbname={url}", str(path)]
    done = subprocess.run(
        command,
        env=_build_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").splitlines()
        raise _build_failure(path, next(filter(_ERROR.search, said), "\n".join(said)))


def _run_script(url: str, path: Path) -> None:
    script = _RESTRICT.sub(b"", path.read_bytes())
    start = 0
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            for block in _COPY.finditer(script):
                connection.execute(script[start : block.start()])
                start = block.start()
                with connection.cursor().copy(block["statement"]) as copy:
                    copy.write(block["rows"])
                start = block.end()
            connection.execute(script[start:])
    except psycopg.OperationalError:
        raise
    except psycopg.Error as error:
        place = int(error.diag.statement_position or 0)
        line = _find_line(script, start, place) if place else ""
        raise _build_failure(path, line + str(error)) from error


def _find_line(script: bytes, start: int, place: int) -> str:
    r"""The line of the ``place``-th character from ``start`` on, and what stands there.

    >>> _find_line(b"SELECT 1;\nSELEKT 2;\n", 0, 11)
    'line 2, SELEKT 2;: '
    """
    before = script[start:].decode(errors="replace")[: place - 1]
    end = start + len(before.encode())
    number = script.count(b"\n", 0, end)
    text = script.split(b"\n")[number].decode(errors="replace").strip()
    return f"line {number + 1}, {text[:80]}: "


def _build_failure(path: Path, reason: str) -> SettingsError:
    return SettingsError(
        f"{path} cannot be restored into the embedded PostgreSQL: {reason.partition(chr(10))[0]}",
        hint="It runs without superuser rights, and commands of psql and changes of owners do not "
        f"work in a script. Let psql load it elsewhere. {_ADVICE}",
    )


def _build_environment() -> dict[str, str]:
    """An environment without the user's connection settings, in English, without disk syncs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return kept | {
        "LC_ALL": "C",
        "PGCLIENTENCODING": "UTF8",
        "PGOPTIONS": "-c synchronous_commit=off -c client_min_messages=warning",
    }
