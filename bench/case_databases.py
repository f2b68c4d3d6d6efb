"""The databases of cases: made by a script, read through the product, and asked straight."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
import yaml
from psycopg.conninfo import make_conninfo
from psycopg.types.string import TextLoader

from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer, grant_reader
from tests.execution.duckdb import shop as duckdb_files
from tests.execution.sqlite import shop as sqlite_files

# What the driver reads in a form that holds less than the value.
_AS_TEXT = ("interval", "daterange", "int4range", "int8range", "numrange", "tsrange", "tstzrange")
_PASSWORD = "CASES_PASSWORD"
_CREATE_READER = f"""DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{READER}') THEN
        CREATE ROLE {READER} LOGIN NOSUPERUSER PASSWORD '{READER}';
    END IF;
END $$"""
_ROLE = re.compile(r"CREATE ROLE (?P<name>\w+) LOGIN PASSWORD '(?P<password>\w+)'")
_POLICY = re.compile(
    r"^-- policy: role \w+ sees (?P<table>\S+) only WHERE (?P<rows>.+?)\s+\(", re.M
)

Rows = Sequence[Sequence[object]]

FILES = {"sqlite": sqlite_files, "duckdb": duckdb_files}
"""What writes a file by a script and asks it straight."""


@dataclass(frozen=True, slots=True)
class CaseDatabase:
    """A database of a case: the settings of its connection, and how to ask it straight."""

    connection: dict[str, str]
    ask: Callable[[str], Rows]
    policy: Path | None = None


class CaseServer:
    """A PostgreSQL server: the embedded one, or the one at a superuser's URL.

    A database is read as the role for logging in that its script creates, or as one that may read
    all of it.
    """

    def __init__(self, embedded: EmbeddedServer, url: str = "") -> None:
        self._embedded = embedded
        self._url = url
        self._reader = self._password = READER

    def load(self, name: str, script: str) -> None:
        """Makes the database ``name`` by a script. Raises psycopg.Error."""
        role = _ROLE.search(script)
        with psycopg.connect(self._find("postgres", SUPERUSER), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}"'.encode())
            if role:
                connection.execute(f"DROP ROLE IF EXISTS {role['name']}".encode())
            connection.execute(_CREATE_READER.encode())
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        with psycopg.connect(self._find(name, SUPERUSER), autocommit=True) as connection:
            connection.execute(script.encode())
            if role is None:
                grant_reader(connection)
        found = (role["name"], role["password"]) if role else (READER, READER)
        self._reader, self._password = found

    def ask(self, name: str, sql: str) -> Rows:
        """The rows of a query that the reader asks."""
        with psycopg.connect(self._find(name, self._reader)) as connection:
            for kind in _AS_TEXT:
                connection.adapters.register_loader(kind, TextLoader)
            connection.execute("SET intervalstyle = iso_8601")
            return connection.execute(sql.encode()).fetchall()

    def describe(self, name: str) -> dict[str, str]:
        """The connection's settings."""
        os.environ[_PASSWORD] = self._password
        if not self._url:
            return {"url": f"embedded:{name}"}
        where = self._url.rpartition("@")[2].partition("/")[0]
        return {"url": f"postgresql://{self._reader}@{where}/{name}", "password_env": _PASSWORD}

    def _find(self, database: str, role: str) -> str:
        if not self._url:
            return self._embedded.url(database, role)
        login = {} if role == SUPERUSER else {"user": role, "password": self._password}
        return make_conninfo(self._url, dbname=database, **login)


class Databases:
    """Makes the databases of scripts below a folder."""

    def __init__(self, folder: Path, server: CaseServer) -> None:
        self._folder = folder
        self._server = server

    def build(self, kind: str, script: Path) -> CaseDatabase:
        """The database that the script makes. Raises the database's error."""
        text = script.read_text(encoding="utf-8")
        path = self._folder / f"{script.stem}.{kind}"
        if kind in FILES:
            FILES[kind].write(path, text)
            return open_file(kind, path)
        rule = _POLICY.search(text)
        name = compared = script.stem
        self._server.load(name, text)
        if rule:
            others = f"DELETE FROM {rule['table']} WHERE ({rule['rows']}) IS NOT TRUE"
            compared = f"{name}_filtered"
            self._server.load(compared, f"{text}\n;{others}")
        return CaseDatabase(
            self._server.describe(name),
            lambda sql: self._server.ask(compared, sql),
            self._write_policy(rule) if rule else None,
        )

    def _write_policy(self, rule: re.Match[str]) -> Path:
        role = {
            "tables": {"visible": "*", "hidden": []},
            "rows": "all",
            "row_filters": {rule["table"]: rule["rows"]},
        }
        path = self._folder / "policy.yaml"
        policy = {"version": 1, "database": "case", "roles": {"analyst": role}}
        path.write_text(yaml.safe_dump(policy), encoding="utf-8")
        return path


def open_file(kind: str, path: Path) -> CaseDatabase:
    """A file that is there."""
    return CaseDatabase({"url": f"{kind}:///{path}"}, lambda sql: FILES[kind].read_raw(path, sql))
