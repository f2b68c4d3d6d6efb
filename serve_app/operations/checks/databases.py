"""Checks of the databases, their roles and functions, and their indexes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

from execution.postgres.functions import DEFINER
from execution.postgres.session import find_missing_limits
from nl2sql.errors import QuorumError
from nl2sql.settings import Settings
from nl2sql.skipped import describe_skipped
from retrieval.semantics.semantics_file import load_semantics
from serve_app.composition.empty_databases import describe_emptiness
from serve_app.composition.wiring import Wiring
from serve_app.operations.checks.check import Check
from serve_app.operations.preparation import build_wiring, start_embedded_server
from serve_app.operations.reachable_functions import describe_families, find_functions
from serve_app.operations.row_level_security import check_row_level_security, is_applied_but_unused
from serve_app.operations.semantics import guard_definitions

# The only limit that the executor's transactions cannot set themselves.
_TEMP_FILE_LIMIT = "ALTER ROLE {role} SET temp_file_limit = '1GB';"


def check_databases(settings: Settings) -> list[Check]:
    """Checks the databases, their roles, schemas and row-level security, and the index.

    Raises SettingsError, DatabaseUnavailable.
    """
    server = start_embedded_server(settings)
    wiring = build_wiring(settings, server)
    checks = [Check("embedded PostgreSQL", "ok", wiring.socket_folder)] if server else []
    for name, message in asyncio.run(_probe(wiring)):
        if not message:
            checks.append(Check(name, "ok", "answers"))
        else:
            checks.append(Check(name, "failed", message, _describe_remedy(name, settings)))
    passed = {check.name for check in checks if check.status == "ok"}
    for name, database in settings.databases.items():
        if database.dialect == "postgres" and f"database {name}" in passed:
            checks += check_role_limits(name, wiring.reader_url(name))
            checks += check_functions(wiring, name)
        if f"database {name}" in passed:
            checks.append(check_schema(wiring, name))
            if database.semantics is not None:
                checks.append(check_definitions(wiring, name, database.semantics))
        if database.row_level_security:
            checks.append(check_row_security(wiring, name))
        elif f"database {name}" in passed and is_applied_but_unused(wiring, name):
            checks.append(
                Check(
                    f"row-level security of {name}",
                    "failed",
                    "applied, but not used: queries run as the reader, which cannot SELECT",
                    f"Set databases.{name}.row_level_security to true, or run "
                    f"`quorumsql policy apply {name} --remove`.",
                )
            )
    return checks


def check_schema(wiring: Wiring, database: str) -> Check:
    """Checks how much of the current schema can be asked about."""
    name = f"schema of {database}"
    try:
        catalog = wiring.source(database).read_catalog()
    except QuorumError as error:
        return Check(name, "failed", error.message, error.hint)
    if not catalog.tables:
        settings = wiring.settings.databases[database]
        empty = describe_emptiness(database, settings, catalog.skipped)
        return Check(name, "warning", empty.message, empty.remedy)
    lines = describe_skipped(catalog.skipped)
    left_out = f"; left out: {'; '.join(lines)}" if lines else ""
    return Check(name, "ok", f"{len(catalog.tables):,} tables{left_out}")


def check_definitions(wiring: Wiring, database: str, path: Path) -> Check:
    """Checks that the definitions fit the current schema: others are not used."""
    name = f"definitions of {database}"
    try:
        file = load_semantics(path)
        catalog = wiring.source(database).read_catalog()
        passed, problems = guard_definitions(wiring, file, catalog)
    except QuorumError as error:
        return Check(name, "failed", error.message, error.hint)
    if problems:
        first = file.describe(problems[0])
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        remedy = f"quorumsql semantics {database}"
        return Check(name, "failed", f"{first}{more}", remedy)
    return Check(name, "ok", f"{len(passed)} fit the schema")


def check_row_security(wiring: Wiring, database: str) -> Check:
    """Checks that the database's own policies match its policy file."""
    name = f"row-level security of {database}"
    try:
        problem = check_row_level_security(wiring, database)
    except QuorumError as error:
        return Check(name, "failed", error.message, error.hint)
    remedy = f"quorumsql policy apply {database}" if problem else ""
    return Check(name, "failed" if problem else "ok", problem or "applied", remedy)


def check_role_limits(database: str, url: str) -> list[Check]:
    """Warns of missing limits of the reader's role that only a superuser can set.

    Raises DatabaseUnavailable.
    """
    role = urlsplit(url).username or ""
    return [
        Check(
            f"role of {database}",
            "warning",
            f"{role} has no {limit}: a sort can fill the server's disk",
            f"As a superuser: {_TEMP_FILE_LIMIT.format(role=role)}",
        )
        for limit in find_missing_limits(url, database)
    ]


def check_functions(wiring: Wiring, database: str) -> list[Check]:
    """Warns of functions that the reader can execute and no query should.

    Raises SettingsError, DatabaseUnavailable.
    """
    found = find_functions(wiring, database)
    definers = [function for function in found if function.family == DEFINER]
    others = [function for function in found if function.family != DEFINER]
    remedy = f"`quorumsql doctor --functions {database}` prints REVOKE statements for them."
    checks = []
    if others:
        message = f"only the guard refuses these {len(others)}: {describe_families(others)}"
        checks.append(Check(f"functions of {database}", "warning", message, remedy))
    if definers:
        names = ", ".join(definer.name for definer in definers[:3])
        more = f" and {len(definers) - 3} more" if len(definers) > 3 else ""
        message = f"the reader can execute {names}{more} with the rights of their owners"
        checks.append(Check(f"{DEFINER} functions of {database}", "warning", message, remedy))
    return checks


async def _probe(wiring: Wiring) -> list[tuple[str, str]]:
    executor = wiring.build_executor()
    store = wiring.build_index_store()
    try:
        found = [*await executor.probe(), *await store.probe()]
        for name in wiring.settings.databases:
            if not dict(found).get("index"):
                head = await store.head(name)
                found.append((f"index of {name}", "" if head else "not indexed"))
        return found
    finally:
        await executor.close()
        await store.close()


def _describe_remedy(name: str, settings: Settings) -> str:
    database = name.removeprefix("index of ").removeprefix("database ")
    if database not in settings.databases or name.startswith("index"):
        return "quorumsql index build"
    configured = settings.databases[database]
    if configured.demo:
        return "`quorumsql index build` loads the demo data."
    if configured.reader.file_path is not None:
        return ""  # problems of files include their remedy
    role = urlsplit(configured.reader.url).username or "quorumsql_reader"
    schemas = ", ".join(configured.schemas or ("public",))
    return (
        "Check that the server runs and the role exists with SELECT only. As its owner:\n"
        f"CREATE ROLE {role} LOGIN PASSWORD '…' NOSUPERUSER NOCREATEDB NOCREATEROLE;\n"
        f"GRANT USAGE ON SCHEMA {schemas} TO {role};\n"
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {schemas} TO {role};\n"
        f"ALTER ROLE {role} SET default_transaction_read_only = on;\n"
        f"{_TEMP_FILE_LIMIT.format(role=role)}  -- needs a superuser"
    )
