"""Checks files of definitions against the catalog, the guard and the database, and imports them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from execution.guard.guard import guard_query
from execution.policies.access import open_access
from execution.policies.assistant import AssistantView
from nl2sql.catalog import Catalog
from nl2sql.concurrency import closing
from nl2sql.settings.database import AssistantSettings
from nl2sql.types import Diagnostic, GuardedQuery, Violation
from nl2sql.yaml_file import suggest
from retrieval.indexing import list_describable
from retrieval.semantics.importing.importer import import_definitions
from retrieval.semantics.importing.models import LeftOut
from retrieval.semantics.resolution import resolve_definitions
from retrieval.semantics.semantics_file import Problem, SemanticsFile
from serve_app.composition.database_kinds import read_allowlist
from serve_app.composition.wiring import Wiring


def guard_definitions(
    wiring: Wiring, file: SemanticsFile, catalog: Catalog
) -> tuple[tuple[tuple[tuple[str, str], GuardedQuery], ...], tuple[Problem, ...]]:
    """A guarded query of each definition that can be used, with its keys in the file.

    And all that is wrong with the others: names, joins, and what the guard refuses; and
    descriptions of what is not there. Raises SettingsError for an allowlist that cannot be read.
    """
    resolved, problems = resolve_definitions(file, catalog)
    access = open_access(catalog)
    allowlist = read_allowlist(wiring.settings.databases[catalog.database])
    passed = []
    refused = []
    for each in resolved:
        definition = each.build(catalog)
        assert definition is not None  # the whole catalog has all of its columns
        place = (f"{each.kind}s", each.name)
        verdict = guard_query(definition.query, access, allowlist)
        if isinstance(verdict, Violation):
            refused.append(Problem(place, f"the guard refuses it: {verdict.message}"))
        else:
            passed.append((place, verdict))
    # Not for nothing: a large catalog has hundreds of thousands of names.
    described = list_describable(catalog) if file.semantics.descriptions else set[str]()
    unknown = [
        Problem(("descriptions", name), f"no such table or column{suggest(name, described)}")
        for name in file.semantics.descriptions
        if name.lower() not in described
    ]
    return tuple(passed), (*problems, *refused, *unknown)


def find_hidden(
    name: str, assistant: AssistantSettings, file: SemanticsFile, catalog: Catalog
) -> tuple[str, ...]:
    """The definitions that read what the assistant ``name`` does not show, so are never used.

    ``catalog`` is the whole of its database. Raises PolicyError for patterns that no table matches.
    """
    visible = AssistantView(name, assistant, open_access(catalog)).show(catalog)
    resolved, _ = resolve_definitions(file, catalog)
    return tuple(each.name for each in resolved if each.build(visible) is None)


async def check_definitions(
    wiring: Wiring, file: SemanticsFile, catalog: Catalog
) -> tuple[int, tuple[Problem, ...]]:
    """The number of definitions, and all that is wrong, with what the database says to EXPLAIN.

    Under row-level security the database is not asked, because it needs a principal. Raises
    SettingsError, DatabaseUnavailable.
    """
    count = sum(1 for _ in file.semantics.list_parts())
    passed, problems = guard_definitions(wiring, file, catalog)
    if wiring.settings.databases[catalog.database].row_level_security:
        return count, problems
    wrong = []
    async with closing(wiring.build_executor()) as executor:
        for place, query in passed:
            explained = await executor.explain(query)
            if isinstance(explained, Diagnostic):
                text = f"the database refuses it: {explained.message}"
                wrong.append(Problem(place, text))
    return count, (*problems, *wrong)


async def import_checked(
    wiring: Wiring, database: str, paths: Sequence[Path]
) -> tuple[dict[str, Any], tuple[LeftOut, ...]]:
    """A file of those definitions in other tools' files that pass all checks, as plain values.

    And what is left out. Raises SettingsError, DatabaseUnavailable.
    """
    catalog = await asyncio.to_thread(wiring.source(database).read_catalog)
    file, left_out = await asyncio.to_thread(import_definitions, paths, catalog)
    _, problems = await check_definitions(wiring, file, catalog)
    content = file.semantics.model_dump(mode="json", exclude_defaults=True) | {"version": 1}
    wrong = []
    for problem in problems:
        section, name = problem.place[:2]
        content[section].pop(name, None)
        wrong.append(LeftOut(name, problem.text))
    return {key: value for key, value in content.items() if value}, (*left_out, *wrong)
