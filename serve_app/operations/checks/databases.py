"""Checks of the databases, their roles and functions, and their indexes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import replace

from execution.policies.row_level_security.apply import check_applied
from execution.postgres.session import find_definers, find_missing_limits, open_connection
from nl2sql.concurrency import closing
from nl2sql.errors import QuorumError, ServerUnavailable
from retrieval.index_store.store import IndexStore
from retrieval.semantics.semantics_file import load_semantics
from serve_app.composition.database_kinds import find_login, open_database
from serve_app.composition.wiring import Wiring
from serve_app.operations.checks import Check
from serve_app.operations.preparation import build_wiring, start_embedded_server
from serve_app.operations.row_level_security import (
    compile_policy,
    is_applied_but_unused,
    plan_row_security,
)
from serve_app.operations.semantics import check_definitions, find_hidden
from serve_app.reporting import SILENT, Reporter
from serve_app.settings import Settings

# The only limit that the executor's transactions cannot set themselves.
_TEMP_FILE_LIMIT = "ALTER ROLE {role} SET temp_file_limit = '1GB';"


def check_databases(
    settings: Settings, names: Sequence[str], reporter: Reporter = SILENT
) -> list[Check]:
    """Checks databases, their roles, definitions, synonyms and policies, and the index.

    Databases with the same result share a check. Raises SettingsError, DatabaseUnavailable.
    """
    server = start_embedded_server(settings, reporter)
    wiring = build_wiring(settings, server)
    checks = [Check("embedded PostgreSQL", "ok", wiring.socket_folder)] if server else []
    return [*checks, *asyncio.run(_check_all(wiring, names))]


def check_definitions_alone(
    settings: Settings, databases: Sequence[str] = (), reporter: Reporter = SILENT
) -> Iterator[Check]:
    """Checks the definitions of ``databases``, by default of all. Raises as ``check_databases``."""
    wiring = build_wiring(settings, start_embedded_server(settings, reporter))
    own = [name for name, assistant in settings.assistants.items() if assistant.semantics]
    for name in map(settings.database_name, databases or (*settings.databases, *own)):
        yield asyncio.run(_check_semantics(wiring, name))


async def _check_all(wiring: Wiring, names: Sequence[str]) -> list[Check]:
    found = await asyncio.gather(*(_check_one(wiring, name) for name in names))
    checks = [check for of_one in found for check in of_one]
    return _group([*checks, *await _check_index(wiring, names)])


async def _check_one(wiring: Wiring, name: str) -> list[Check]:
    try:
        async with closing(open_database(wiring, name)) as database:
            problem = await database.probe()
        if problem:
            remedy = _describe_remedy(name, wiring.settings, problem)
            return [Check("database", "failed", problem, remedy, (name,))]
        checks = [Check("database", "ok", "answers", databases=(name,))]
        return [*checks, *[check async for check in _check_parts(wiring, name)]]
    except ServerUnavailable as error:
        return [Check("database", "failed", error.details, databases=(name,))]
    except QuorumError as error:
        return [Check("database", "failed", error.message, error.hint, (name,))]


def _check_indexer(wiring: Wiring, name: str) -> list[Check]:
    try:
        with open_connection(wiring.indexer_url(name), name):
            return []
    except ServerUnavailable as error:
        return [Check("indexer", "failed", error.details, databases=(name,))]


async def _check_parts(wiring: Wiring, name: str) -> AsyncIterator[Check]:
    database = wiring.settings.databases[name]
    if database.dialect == "postgres":
        url = wiring.reader_url(name)
        for check in (
            *await asyncio.to_thread(_check_indexer, wiring, name),
            *await asyncio.to_thread(check_role_limits, name, url),
            *await asyncio.to_thread(check_functions, name, url),
        ):
            yield check
    for each, section in (wiring.settings.databases | wiring.settings.assistants).items():
        if section.semantics is not None and wiring.settings.source_of(each) == name:
            yield await _check_semantics(wiring, each)
    if database.synonyms is not None:
        yield await asyncio.to_thread(_check_synonyms, wiring, name)
    if database.policy is not None or database.row_level_security:
        yield await asyncio.to_thread(check_policy, wiring, name)
    if await asyncio.to_thread(is_applied_but_unused, wiring, name):
        yield Check(
            "row-level security",
            "failed",
            "applied, but not used: queries run as the reader, which cannot SELECT",
            f"Set databases.{name}.row_level_security to true, or run "
            f"`quorumsql policy apply {name} --remove`.",
            (name,),
        )


def _group(checks: Iterable[Check]) -> list[Check]:
    """One check for all databases of which it says the same."""
    groups: dict[Check, tuple[str, ...]] = {}
    for check in checks:
        key = replace(check, databases=())
        groups[key] = (*groups.get(key, ()), *check.databases)
    return [replace(check, databases=databases) for check, databases in groups.items()]


async def _check_semantics(wiring: Wiring, database: str) -> Check:
    """Checks the definitions: names, joins, the guard and EXPLAIN. Those that are wrong are not
    used, and a service does not start with them."""
    assistant = wiring.settings.assistants.get(database)
    path = wiring.settings.by_name[database].semantics
    if path is None:
        section = "databases" if assistant is None else "assistants"
        remedy = f"Set {section}.{database}.semantics, or name the databases that have definitions."
        return Check("definitions", "failed", "no file is named", remedy, (database,))
    try:
        file = load_semantics(path)
        source = wiring.source(wiring.settings.source_of(database))
        catalog = await asyncio.to_thread(source.read_catalog)
        count, problems = await check_definitions(wiring, file, catalog)
        hidden = find_hidden(database, assistant, file, catalog) if assistant else ()
    except QuorumError as error:
        return Check("definitions", "failed", error.message, error.hint, (database,))
    if problems:
        told = "\n".join(file.describe(problem) for problem in problems)
        return Check("definitions", "failed", f"{len(problems)} are wrong", told, (database,))
    if hidden:
        told = f"{', '.join(hidden)}: never used, because they read tables that are not shown"
        remedy = f"Name the tables under assistants.{database}.tables, or remove the definitions."
        return Check("definitions", "warning", told, remedy, (database,))
    return Check("definitions", "ok", f"{count} fit", databases=(database,))


def _check_synonyms(wiring: Wiring, database: str) -> Check:
    try:
        wiring.read_synonyms(database, wiring.source(database).read_catalog())
    except QuorumError as error:
        return Check("synonyms", "failed", error.message, error.hint, (database,))
    return Check("synonyms", "ok", "fit", databases=(database,))


def check_policy(wiring: Wiring, database: str) -> Check:
    """Checks the policy file against the catalog, and against row-level security if that is set."""
    is_applied = wiring.settings.databases[database].row_level_security
    name, where = "row-level security" if is_applied else "policy", (database,)
    try:
        if not is_applied:
            compile_policy(wiring, database)
            return Check(name, "ok", "fits", databases=where)
        security = plan_row_security(wiring, database)
        problem = check_applied(wiring.indexer_url(database), security)
    except QuorumError as error:
        return Check(name, "failed", error.message, error.hint, where)
    if problem:
        return Check(name, "failed", problem, f"quorumsql policy apply {database}", where)
    return Check(name, "ok", "applied", databases=where)


def check_role_limits(database: str, url: str) -> list[Check]:
    """Warns of missing limits of the reader's role that only a superuser can set.

    Raises DatabaseUnavailable.
    """
    role = find_login(url)
    return [
        Check(
            "role",
            "warning",
            f"{role} has no {limit}: a sort can fill the server's disk",
            f"As a superuser: {_TEMP_FILE_LIMIT.format(role=role)}",
            (database,),
        )
        for limit in find_missing_limits(url, database)
    ]


def check_functions(database: str, url: str) -> list[Check]:
    """Warns of functions that the reader can execute with the rights of others.

    Raises DatabaseUnavailable.
    """
    found = find_definers(url, find_login(url), database)
    if not found:
        return []
    names = ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
    message = f"the reader can execute {names} with the rights of their owners"
    remedy = f"As their owner: REVOKE EXECUTE ON FUNCTION {found[0]} FROM PUBLIC;"
    return [Check("SECURITY DEFINER functions", "warning", message, remedy, (database,))]


async def _check_index(wiring: Wiring, names: Sequence[str]) -> list[Check]:
    async with closing(wiring.build_index_store()) as store:
        if problem := dict(await store.probe())["index"]:
            # It says what to do, too.
            return [Check("index", "failed", problem)]
        heads = {head.database: head for head in await store.heads()}
        assistants = [
            await _check_assistant(wiring, store, name)
            for name, assistant in wiring.settings.assistants.items()
            if assistant.database in names and assistant.database in heads
        ]
    checks = []
    for name in names:
        status, message, remedy = "ok", "present", ""
        if name not in heads:
            status, message, remedy = "failed", "not indexed", "quorumsql index build"
        elif not heads[name].tables:
            status, message = "warning", "there is no table to ask about"
            remedy = f"`quorumsql index build {name}` says why."
        checks.append(Check("index", status, message, remedy, (name,)))
    return [*checks, *assistants]


async def _check_assistant(wiring: Wiring, store: IndexStore, name: str) -> Check:
    """Checks that the index has tables that the assistant's patterns match."""
    try:
        await wiring.build_guard(store).check(name)
    except QuorumError as error:
        return Check("assistant", "failed", error.message, error.hint, (name,))
    return Check("assistant", "ok", "its tables are there", databases=(name,))


def _describe_remedy(database: str, settings: Settings, problem: str) -> str:
    configured = settings.databases[database]
    if configured.demo:
        return "`quorumsql index build` loads the demo data."
    # Other problems include their remedy.
    if not any(words in problem for words in ("authentication failed", 'role "', "could do more")):
        return ""
    # A role with too many rights is there already, and often the owner.
    login = "" if "could do more" in problem else find_login(configured.reader.url)
    role = login or "quorumsql_reader"
    schemas = ", ".join(configured.schemas or ("public",))
    return (
        "A role for queries may SELECT and nothing else. As the owner of the database:\n"
        f"CREATE ROLE {role} LOGIN PASSWORD '…' NOSUPERUSER NOCREATEDB NOCREATEROLE;\n"
        f"GRANT USAGE ON SCHEMA {schemas} TO {role};\n"
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {schemas} TO {role};\n"
        f"ALTER ROLE {role} SET default_transaction_read_only = on;\n"
        f"{_TEMP_FILE_LIMIT.format(role=role)}  -- needs a superuser"
        + ("" if login else f"\nThen name {role} in databases.{database}.reader.url.")
    )
