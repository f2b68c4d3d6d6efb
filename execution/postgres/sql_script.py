"""Prepares SQL scripts of third parties for ``psql``.

A plain dump (``pg_dump --format=plain``) or a hand-written script is untrusted, and psql can do
much: ``\\!`` runs a shell command, ``\\copy`` reads files, ``\\connect`` leaves the database. The
protection is psql's restricted mode (``\\restrict KEY``, since 16.10, 17.6 and 18; documentation of
psql, CVE-2025-8714), which the caller enters with a key that the script cannot know: psql then
refuses every backslash command except ``\\unrestrict``. As psql 18.4 still runs a back-quoted
argument of ``\\unrestrict`` in a shell, this module refuses that word anywhere but in the closing
line that pg_dump writes.

Knows nothing of servers. Reads line by line, so a script may be larger than memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from nl2sql.errors import SettingsError

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
