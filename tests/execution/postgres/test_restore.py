"""Restoring dumps and scripts: once, whole or not at all, and without trusting them."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from execution.postgres.embedded import READER, RESTORER, SUPERUSER, EmbeddedServer
from execution.postgres.restore import restore_postgres
from nl2sql.errors import SettingsError

SCRIPT = """
CREATE SCHEMA s;
CREATE TABLE s.t (id int PRIMARY KEY, note text);
INSERT INTO s.t VALUES (1, 'a;b'), (2, E'back\\\\slash');
CREATE TABLE public.u (a int);
"""


@pytest.fixture
def restored(embedded_server: EmbeddedServer) -> Iterator[str]:
    """The name of a database that is gone before and after."""
    embedded_server.drop_database("restored")
    yield "restored"
    embedded_server.drop_database("restored")


def run(
    server: EmbeddedServer, statement: str, *, database: str = "restored", role: str = READER
) -> list[tuple[Any, ...]]:
    with psycopg.connect(server.url(database, role), autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def databases(server: EmbeddedServer) -> set[str]:
    rows = run(server, "SELECT datname FROM pg_database", database="postgres", role=SUPERUSER)
    return {name for (name,) in rows}


def write(folder: Path, text: str, name: str = "script.sql") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def dump(server: EmbeddedServer, path: Path, text: str, *options: str) -> Path:
    """What pg_dump makes of a database that ``text`` filled, as the superuser."""
    server.drop_database("dumped")
    server.create_database("dumped")
    run(server, text, database="dumped", role=SUPERUSER)
    url = server.url("dumped", SUPERUSER)
    command = [str(server.bin_folder / "pg_dump"), f"--file={path}", f"--dbname={url}"]
    subprocess.run([*command, *(options or ("-Fc",))], check=True)
    server.drop_database("dumped")
    return path


@pytest.fixture(params=["dump", "plain dump", "script"])
def source(request: pytest.FixtureRequest, embedded_server: EmbeddedServer, tmp_path: Path) -> Path:
    """The same database in each form, the dump with owners and privileges of other roles."""
    if request.param == "script":
        return write(tmp_path, SCRIPT)
    path = tmp_path / "a dump"
    if request.param == "plain dump":
        dump(embedded_server, path, SCRIPT, "--no-owner")
        text = path.read_text()
        if "\\restrict" not in text:  # newer releases of pg_dump write it
            path.write_text(f"\\restrict a1\n{text}\\unrestrict a1\n")
        return path
    text = (
        f"{SCRIPT}; CREATE ROLE passing; ALTER TABLE s.t OWNER TO passing;"
        " GRANT SELECT ON public.u TO passing"
    )
    dump(embedded_server, path, text)
    run(embedded_server, "DROP ROLE passing", database="postgres", role=SUPERUSER)
    return path


def test_it_is_restored_once_and_the_reader_reads_it(
    embedded_server: EmbeddedServer, restored: str, source: Path
) -> None:
    assert restore_postgres(embedded_server, restored, source)
    assert run(embedded_server, "SELECT note FROM s.t ORDER BY id") == [("a;b",), ("back\\slash",)]
    assert run(embedded_server, "SELECT count(*) FROM u") == [(0,)]
    assert not restore_postgres(embedded_server, restored, source)


def test_nothing_of_it_has_rights(
    embedded_server: EmbeddedServer, restored: str, source: Path
) -> None:
    restore_postgres(embedded_server, restored, source)
    (rights,) = run(
        embedded_server,
        "SELECT rolsuper, rolcreatedb, rolcreaterole, rolbypassrls FROM pg_roles"
        f" WHERE rolname = '{RESTORER}'",
    )
    assert not any(rights)
    owners = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname IN ('s', 'public')"
    assert run(embedded_server, owners) == [(RESTORER,)]
    # The database itself is the superuser's: an owner may drop it.
    owner = "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()"
    assert run(embedded_server, owner) == [(SUPERUSER,)]
    for statement in ("INSERT INTO s.t VALUES (9, 'x')", "CREATE TABLE public.v (a int)"):
        with pytest.raises(psycopg.Error):
            run(embedded_server, statement)


def test_another_file_takes_its_place(
    embedded_server: EmbeddedServer, restored: str, tmp_path: Path
) -> None:
    for answer in ("1", "2"):
        path = write(tmp_path, f"CREATE TABLE t AS SELECT {answer} AS a;")
        assert restore_postgres(embedded_server, restored, path)
        assert run(embedded_server, "SELECT a FROM t") == [(int(answer),)]


def test_rows_relative_to_today_are_made_anew_every_day(
    embedded_server: EmbeddedServer, restored: str, tmp_path: Path
) -> None:
    path = write(tmp_path, "CREATE TABLE t AS SELECT CURRENT_DATE - 3 AS a;")
    assert restore_postgres(embedded_server, restored, path)
    assert not restore_postgres(embedded_server, restored, path)
    version = embedded_server.read_version(restored)
    yesterday = f"{version.rpartition(' ')[0]} 2001-01-01"
    comment = f"COMMENT ON DATABASE {restored} IS '{yesterday}'"
    run(embedded_server, comment, role=SUPERUSER)
    assert restore_postgres(embedded_server, restored, path)
    assert embedded_server.read_version(restored) == version


def test_what_fails_leaves_no_half(
    embedded_server: EmbeddedServer, restored: str, tmp_path: Path
) -> None:
    broken = write(tmp_path, f"{SCRIPT}\nCREATE TABLE v (a int);\nSELECT nothing;\n", "broken.sql")
    with pytest.raises(SettingsError, match=r"broken\.sql cannot .* line 8, .*: column .*nothing"):
        restore_postgres(embedded_server, restored, broken)
    assert restored not in databases(embedded_server)
    bad = write(tmp_path, "CREATE TABLE t (a int);\nCOPY t FROM stdin;\nx\n\\.\n", "bad.sql")
    with pytest.raises(SettingsError, match=r"bad\.sql cannot .* invalid input syntax"):
        restore_postgres(embedded_server, restored, bad)
    assert restored not in databases(embedded_server)
    truncated = dump(embedded_server, tmp_path / "x.dump", SCRIPT)
    truncated.write_bytes(truncated.read_bytes()[:-20])
    with pytest.raises(SettingsError, match=r"x\.dump cannot be restored .* error: "):
        restore_postgres(embedded_server, restored, truncated)
    assert restored not in databases(embedded_server)


def test_of_several_at_once_one_restores_whatever_a_killed_one_left(
    embedded_server: EmbeddedServer, restored: str, tmp_path: Path
) -> None:
    embedded_server.create_database(restored)
    run(embedded_server, SCRIPT, role=SUPERUSER)
    path = write(tmp_path, SCRIPT)
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(restore_postgres, embedded_server, restored, path) for _ in range(4)]
    assert sorted(future.result() for future in futures) == [False, False, False, True]


@pytest.mark.parametrize("command", [r"\! touch {file}", r"\copy (SELECT 1) TO '{file}'"])
def test_no_psql_command_works(
    embedded_server: EmbeddedServer, restored: str, tmp_path: Path, command: str
) -> None:
    file = tmp_path / "touched"
    with pytest.raises(SettingsError, match="syntax error"):
        restore_postgres(embedded_server, restored, write(tmp_path, command.format(file=file)))
    assert not file.exists()


@pytest.mark.parametrize(
    "attack",
    [
        "CREATE TABLE t (a text); COPY t FROM PROGRAM 'id'",
        "CREATE TABLE t (a text); COPY t FROM '/etc/passwd'",
        "CREATE ROLE evil SUPERUSER",
        f"GRANT {SUPERUSER} TO {RESTORER}",
        "SET ROLE postgres",
        "ALTER SYSTEM SET work_mem = '1MB'",
        "DROP DATABASE demo_erp",
        f"ALTER ROLE {READER} RESET ALL",
        "SELECT lo_import('/etc/passwd')",
        "CREATE EXTENSION dblink",
        "CREATE FUNCTION f() RETURNS int LANGUAGE c AS 'x', 'y'",
    ],
)
def test_it_runs_without_rights_outside_of_its_database(
    embedded_server: EmbeddedServer, restored: str, tmp_path: Path, attack: str
) -> None:
    with pytest.raises(SettingsError, match=r"permission denied|must be|is not available"):
        restore_postgres(embedded_server, restored, write(tmp_path, f"{attack};\n"))
    assert restored not in databases(embedded_server)


def unpacked(path: Path) -> None:
    path.write_bytes(gzip.compress(b"SELECT 1;"))


def binary(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0")


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda path: None, "cannot be read: No such file"),
        (lambda path: path.mkdir(), "cannot be read: Is a directory"),
        (unpacked, "neither a dump"),
        (binary, "neither a dump"),
    ],
)
def test_other_files_are_refused(
    embedded_server: EmbeddedServer, tmp_path: Path, make: Callable[[Path], None], complaint: str
) -> None:
    path = tmp_path / "x"
    make(path)
    with pytest.raises(SettingsError, match=complaint):
        restore_postgres(embedded_server, "restored", path)
