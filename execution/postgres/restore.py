"""Restores a third party's database into the embedded server, once.

Reads a dump in pg_dump's custom format (``PGDMP``) or a plain SQL script. The tools are the
embedded server's own ``pg_restore`` and ``psql``, which read dumps of older servers, not of newer
ones.

Restoring a dump runs the code in it. It therefore runs as ``quorumsql_restorer``, a role that owns
the new database and nothing else: no access to the server's files, no ``COPY … PROGRAM``, no other
database. That role stays the owner of the restored objects, so that their index expressions, views
and triggers never run with more rights.

A plain script is untrusted, and psql can do much: ``\\!`` runs a shell command, ``\\copy`` reads
files, ``\\connect`` leaves the database. The protection is psql's restricted mode (``\\restrict
KEY``, CVE-2025-8714), entered with a key that the script cannot know: psql then refuses every
backslash command except ``\\unrestrict``. As psql 18.4 still runs a back-quoted argument of
``\\unrestrict`` in a shell, that word is refused anywhere but in the closing line that pg_dump
writes.

The restore goes into a database with a temporary name, which is renamed when it is complete. The
next restore drops what an interrupted one left.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import psycopg
from psycopg import sql

from execution.postgres.embedded import RESTORER, SUPERUSER, EmbeddedServer, grant_reader
from nl2sql.errors import DatabaseUnavailable, SettingsError

# Forms as pg_dump writes them, each on one line (src/bin/pg_dump/pg_dump.c, pg_backup_archiver.c).
_COPY = re.compile(rb"COPY\s.*\sFROM\s+stdin\b.*;\s*", re.IGNORECASE)
_END_OF_COPY = re.compile(rb"\\\.\s*")
_RESTRICT = re.compile(rb"\\restrict (?P<key>\w+)\s*")
_DUMP_HEADER = re.compile(rb"-- PostgreSQL database dump\s*")
# The lines that ``pg_restore --no-owner --no-privileges`` omits: they name roles of another server.
_OWNERSHIP = re.compile(
    rb"(ALTER\s[A-Z ]+\s.+\sOWNER TO\s.+|(GRANT|REVOKE)\s.+\s(TO|FROM)\s.+"
    rb"|ALTER DEFAULT PRIVILEGES\s.+|COMMENT ON EXTENSION\s.+);\s*"
)
_LITERAL_OR_COMMENT = re.compile(rb"'[^']*'|--.*")
_TODAY = re.compile(
    rb"\b(current_(date|time|timestamp)|local(time|timestamp))\b"
    rb"|\b(now|age|timeofday|(clock|statement|transaction)_timestamp)\s*\(",
    re.IGNORECASE,
)


def read_script(path: Path) -> Iterator[bytes]:
    """The script's lines for a restricted psql; lines that it must not see become blank.

    These are, blank so that line numbers in errors stay right, the ``\\restrict`` and
    ``\\unrestrict`` lines of pg_dump, and in its dumps the lines that change ownership and
    privileges (recognised by their form, even inside a string that spans lines). Raises
    SettingsError for ``\\unrestrict`` elsewhere.
    """
    key: bytes | None = None
    is_dump = False
    for number, (line, is_row) in enumerate(_read_lines(path), start=1):
        if key is not None and line.strip() == b"\\unrestrict " + key:
            yield b"\n"
        elif b"\\unrestrict" in line:
            raise SettingsError(
                f"{path}, line {number}: \\unrestrict is a psql command that scripts may not use.",
                hint="Remove the line, or restore the script yourself on a server of your own.",
            )
        elif is_row:
            yield line
        elif key is None and (match := _RESTRICT.fullmatch(line)):
            key = match["key"]
            yield b"\n"
        elif is_dump and _OWNERSHIP.fullmatch(line):
            yield b"\n"
        else:
            is_dump = is_dump or _DUMP_HEADER.fullmatch(line) is not None
            yield line


def mentions_today(path: Path) -> bool:
    """Whether the script reads the current date, so that its result changes every day.

    Rows of COPY, string literals on one line and comments do not count.
    """
    return any(
        _TODAY.search(_LITERAL_OR_COMMENT.sub(b"''", line))
        for line, is_row in _read_lines(path)
        if not is_row
    )


def _read_lines(path: Path) -> Iterator[tuple[bytes, bool]]:
    """Each line, and whether it is a row (or the end) of a COPY block."""
    copying = False
    with path.open("rb") as file:
        for line in file:
            yield line, copying
            if copying:
                copying = _END_OF_COPY.fullmatch(line) is None
            else:
                copying = _COPY.fullmatch(line) is not None


# Increase it when a restore does something new besides the file's own statements.
_FORMAT_VERSION = 1
_MAGIC = b"PGDMP"
_UNFINISHED = "~restoring"
# NAMEDATALEN - 1; the server would cut a longer name short without an error.
_LONGEST_NAME_BYTES = 63
# An arbitrary constant: the first half of the advisory lock's key; the database is the second.
_LOCK_CLASS = 0x51534C
_ERROR = re.compile(r"\b(error|ERROR|FATAL|PANIC):")


def restore_postgres(
    server: EmbeddedServer,
    database: str,
    path: Path,
) -> bool:
    """Restores the dump or script at ``path`` into ``database``; False if that was done before.

    The database is dropped and restored again if the file or this code has changed, and on another
    day if the script reads the current date, since its rows then depend on it. The reader may
    SELECT all of it. If several processes restore the same database, one does and the others wait.

    Raises SettingsError if the file is missing or cannot be restored, DatabaseUnavailable if the
    server does not answer.
    """
    unfinished = database + _UNFINISHED
    if len(unfinished.encode()) > _LONGEST_NAME_BYTES:
        raise SettingsError(
            f"The database name {database!r} is too long to restore into.",
            hint=f"Use a name of at most {_LONGEST_NAME_BYTES - len(_UNFINISHED)} bytes.",
        )
    is_dump = _is_custom_dump(path)
    with _translating(database), _locked(server, database) as admin:
        version = _build_version(admin, path, is_dump)
        if server.read_version(database) == version:
            return False
        server.drop_database(unfinished)
        server.create_database(unfinished, owner=RESTORER)
        try:
            if is_dump:
                _run_pg_restore(server, unfinished, path)
            else:
                _run_psql(server, unfinished, path)
            with psycopg.connect(server.url(unfinished, RESTORER), autocommit=True) as connection:
                grant_reader(connection)
                connection.execute("ANALYZE")
            _put_in_place(server, admin, unfinished, database, version)
        finally:
            server.drop_database(unfinished)
    return True


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


@contextmanager
def _locked(server: EmbeddedServer, database: str) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's connection that holds the lock; the server releases it if the process dies."""
    with psycopg.connect(server.url("postgres", SUPERUSER), autocommit=True) as admin:
        admin.execute("SELECT pg_advisory_lock(%s, hashtext(%s))", (_LOCK_CLASS, database))
        yield admin


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
            hint="Unpack it, or dump again with `pg_dump --format=custom`.",
        )
    return False


def _build_version(admin: psycopg.Connection[Any], path: Path, is_dump: bool) -> str:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    version = f"restored {_FORMAT_VERSION} {digest.hexdigest()}"
    if not is_dump and mentions_today(path):
        # The server's current date, since the script reads that one.
        row = admin.execute("SELECT CURRENT_DATE").fetchone()
        assert row is not None
        version += f" {row[0]}"
    return version


def _run_pg_restore(server: EmbeddedServer, database: str, path: Path) -> None:
    command = [
        str(server.bin_folder / "pg_restore"),
        "--no-owner",
        "--no-privileges",
        "--no-tablespaces",
        "--exit-on-error",
        f"--jobs={os.cpu_count() or 1}",
        f"--dbname={server.url(database, RESTORER)}",
        str(path),
    ]
    _run(command, path, subprocess.DEVNULL)


def _run_psql(server: EmbeddedServer, database: str, path: Path) -> None:
    command = [
        str(server.bin_folder / "psql"),
        "--no-psqlrc",
        "--quiet",
        "--set=ON_ERROR_STOP=1",
        f"--command=\\restrict {secrets.token_hex(32)}",
        "--file=-",
        f"--dbname={server.url(database, RESTORER)}",
    ]
    with tempfile.TemporaryFile() as script:
        script.writelines(read_script(path))
        script.seek(0)
        _run(command, path, script)


def _run(command: list[str], path: Path, stdin: int | IO[bytes]) -> None:
    """Runs the tool to its end; it is killed if the process is interrupted."""
    done = subprocess.run(
        command,
        env=_environment(),
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode(errors="replace").replace("psql:<stdin>:", "line ")
        raise _failure(path, said.splitlines())


def _environment() -> dict[str, str]:
    """An environment without the user's connection settings, in English, without disk syncs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return kept | {
        "LC_ALL": "C",
        "PGCLIENTENCODING": "UTF8",
        "PGOPTIONS": "-c synchronous_commit=off -c client_min_messages=warning",
    }


def _failure(path: Path, lines: list[str]) -> SettingsError:
    said = next((line for line in lines if _ERROR.search(line)), lines[0] if lines else "no reason")
    return SettingsError(
        f"{path} cannot be restored into the embedded PostgreSQL: {said}",
        hint="It runs without superuser rights, and psql commands do not work in a script.",
    )


def _put_in_place(
    server: EmbeddedServer,
    admin: psycopg.Connection[Any],
    unfinished: str,
    database: str,
    version: str,
) -> None:
    # An owner may drop a database; the code of the next dump must not be able to drop this one.
    for statement, value in (
        ("ALTER DATABASE {} OWNER TO {}", sql.Identifier(SUPERUSER)),
        ("COMMENT ON DATABASE {} IS {}", sql.Literal(version)),
    ):
        admin.execute(sql.SQL(statement).format(sql.Identifier(unfinished), value))
    server.drop_database(database)
    admin.execute(
        sql.SQL("ALTER DATABASE {} RENAME TO {}").format(
            sql.Identifier(unfinished), sql.Identifier(database)
        )
    )
