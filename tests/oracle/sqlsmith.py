"""Random statements by sqlsmith (Debian's package of that name), over a database's own schema.

sqlsmith only prints here, it executes nothing. It reads what there is from the catalogs; in the
database that it is pointed at, exotic operators are deleted and functions hidden, or next to no
statement of its would be one that the guard may let through. Statements come twice: as sqlsmith
wrote them, and tamed, without what no query may hold (TABLESAMPLE, row locks) and with values in
the place of NULLs.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence

from execution.postgres.embedded import READER, EmbeddedServer
from tests.oracle.grants import Grants
from tests.oracle.postgres_copies import build_copy, open_superuser

PROGRAM = shutil.which("sqlsmith")

_TIMEOUT_S = 120
_FUNCTIONS = (
    "abs ceil floor round length lower upper count sum avg min max bool_and bool_or mod sign "
    "replace substr left right concat date_trunc rank row_number lag lead first_value"
)
_TYPES = "bool int2 int4 int8 numeric float4 float8 text varchar date timestamp interval"
# What sqlsmith's own look into the catalogs needs besides.
_NEEDED = "oid name char regproc regtype regclass xid tid oidvector int2vector bpchar timestamptz"
_PREPARE = f"""
SET LOCAL allow_system_table_mods = on;
CREATE TEMP TABLE plain AS SELECT oid FROM pg_type
 WHERE typnamespace = 'pg_catalog'::regnamespace
   AND typname = ANY (string_to_array('{_TYPES}', ' '));
CREATE TEMP TABLE needed AS SELECT oid FROM plain UNION
SELECT oid FROM pg_type WHERE typname = ANY (string_to_array('{_NEEDED}', ' '));
DELETE FROM pg_operator
 WHERE oprleft <> 0
   AND NOT (oprleft IN (SELECT oid FROM needed) AND oprright IN (SELECT oid FROM needed));
CREATE TABLE public.plain_procs AS SELECT p.oid FROM pg_catalog.pg_proc p
 WHERE pronamespace = 'pg_catalog'::regnamespace
   AND proname = ANY (string_to_array('{_FUNCTIONS}', ' '))
   AND prorettype IN (SELECT oid FROM plain)
   AND NOT EXISTS (SELECT FROM unnest(p.proargtypes) a WHERE a NOT IN (SELECT oid FROM plain));
CREATE VIEW information_schema.pg_proc AS SELECT p.* FROM pg_catalog.pg_proc p
  JOIN public.plain_procs USING (oid);
GRANT SELECT ON information_schema.pg_proc TO PUBLIC;
"""

_END = re.compile(r";\s*\n")
_NULL = re.compile(r"""cast\(null as "?(\w+)"?\)""")
_ONE_OF_TABLE = re.compile(r"\(select (\w+) from ([\w.]+) limit 1 offset \d+\s*\)")
_TAMING = (
    (re.compile(r"\btablesample \w+ \([\d.]+\)"), ""),
    (re.compile(r"\bfor (?:no key )?(?:update|share|key share)\b(?: skip locked| nowait)?"), ""),
    (re.compile(r'\bas (?:name|bpchar|"char")(?=\))'), "as text"),
    (re.compile(r"\bas (?:oid|xid8?|tid|oidvector|int2vector|reg\w+)(?=\))"), "as int8"),
    (re.compile(r'\bas "interval"(?=\))'), "as interval"),
    (re.compile(r"\bas timestamptz(?=\))"), "as timestamp"),
    (re.compile(r"~(<=|>=|<|>)~"), r"\1"),
)
_VALUES = {
    "bool": ("true", "false"),
    "text": ("'a'", "'ACT'", "'%'"),
    "varchar": ("'e'", "'OPN'"),
    "date": ("date '2024-03-01'",),
    "timestamp": ("timestamp '2024-03-01 12:00'",),
    "interval": ("interval '1 day'",),
    "float4": ("2.5::float4",),
    "float8": ("2.5::float8",),
    "int2": ("7::int2",),
    "int8": ("7::int8",),
    "numeric": ("0.5", "100.0"),
    "int4": ("0", "1", "5"),
}


def prepare_database(
    server: EmbeddedServer, source: str, name: str, roles: Sequence[Grants]
) -> None:
    """Makes ``name``, a principal's copy of ``source`` that sqlsmith can look at.

    ``source`` must have no connections. Raises psycopg.Error.
    """
    build_copy(server, source, name, roles)
    with open_superuser(server, name) as connection, connection.transaction():
        for statement in _PREPARE.split(";\n"):
            if statement.strip():
                connection.execute(statement.encode())


def generate_statements(
    server: EmbeddedServer, database: str, *, seed: int, count: int
) -> list[str]:
    """``count`` statements over a prepared database, DML among them. Raises CalledProcessError."""
    assert PROGRAM is not None
    target = (
        f"host={server.socket_folder} dbname={database} user={READER}"
        " options='-c search_path=information_schema,pg_catalog'"
    )
    done = subprocess.run(
        [
            PROGRAM,
            f"--target={target}",
            f"--seed={seed}",
            f"--max-queries={count}",
            "--dry-run",
            "--exclude-catalog",
        ],
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=True,
    )
    return [text.strip() for text in _END.split(done.stdout) if text.strip()]


def tame_statement(statement: str, rng: random.Random) -> str:
    """The statement without what no query may hold, and with values where it has typed NULLs.

    >>> raw = "select cast(null as int8) from t tablesample system (6.2)"
    >>> tame_statement(raw, random.Random(1))
    'select 7::int8 from t '
    """
    text = _ONE_OF_TABLE.sub(r"(select max(\1) from \2)", statement)
    for pattern, replacement in _TAMING:
        text = pattern.sub(replacement, text)
    return _NULL.sub(lambda match: _draw_value(match, rng), text)


def iterate_statements(
    server: EmbeddedServer, database: str, rng: random.Random, *, batch: int = 200
) -> Iterator[tuple[str, str]]:
    """(kind, statement) without end: each statement raw now and then, and tamed."""
    while True:
        seed = rng.randrange(2**31)
        for statement in generate_statements(server, database, seed=seed, count=batch):
            if rng.random() < 0.1:
                yield "sqlsmith", statement
            yield "sqlsmith tamed", tame_statement(statement, rng)


def _draw_value(match: re.Match[str], rng: random.Random) -> str:
    values = _VALUES.get(match[1])
    return rng.choice(values) if values else match[0]
