"""The semantic layer in use: which definitions a question names, for one who may see them.

A definition is found by its words. They are folded as for search: case, accents and plurals do not
count, nor do function words. A name of several words matches if the question has all of them close
together, in any order: "active customers", "customers that are still active".

A definition is given only to a principal who may see every table and column that it reads, those of
its joins included: so it tells nothing that the schema does not. The files are read once; a
definition that does not fit the present catalog is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pydantic import ValidationError

from nl2sql.catalog import Catalog
from nl2sql.errors import InvalidRequest
from nl2sql.protocols import CatalogSource, Guard
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import Definition, Question, TrialFix, Violation
from nl2sql.words import content_words
from retrieval.per_catalog import PerCatalog
from retrieval.semantics.resolution import DefinedPhrase, Resolved, find_phrase, resolve_definitions
from retrieval.semantics.semantics_file import Semantics, SemanticsFile, read_problem
from retrieval.semantics.sql_parts import UnusableDefinition, has_aggregate

# A question names few; a prompt with many definitions would tell the model nothing.
MOST_DEFINITIONS = 5


_AMBIGUOUS = "the whole database has more of these names or joins; write schema.table.column"

# A definition as a principal is shown it, and the phrases that name it.
_Named = tuple[Definition, tuple[DefinedPhrase, ...]]


class SemanticLayer:
    """The definitions of all databases; ``files`` is by database."""

    def __init__(
        self, files: Mapping[str, SemanticsFile], catalogs: CatalogSource, guard: Guard
    ) -> None:
        self._files = dict(files)
        self._catalogs = catalogs
        self._guard = guard
        # Definitions are resolved against whole catalogs, in which a short name always means the
        # same table, and then limited to what a principal sees.
        self._whole: dict[str, tuple[Catalog, PerCatalog[tuple[_Named, ...]]]] = {}

    async def find(self, question: Question, catalog: Catalog) -> tuple[Definition, ...]:
        """At most five definitions that the question names, in its order.

        ``catalog`` is what the principal may see. Raises IndexUnavailable, and InvalidRequest for a
        definition on trial that cannot be used, or with which a service would not start.
        """
        known = await self._find_known(question.database, catalog)
        if question.trial is not None and question.trial.name:
            whole = await self._catalogs.catalog(catalog.database)
            tried = await run_in_parser_thread(_read_trial, question.trial, catalog, whole)
            query = tried[0].query
            verdict = await self._guard.guard(question.database, query, question.principal)
            if isinstance(verdict, Violation):
                raise _refuse(verdict.message)
            known = (tried, *known)
        return choose_definitions(question.search_text, known)

    async def list_visible(self, database: str, catalog: Catalog) -> tuple[Definition, ...]:
        """All definitions of the database, in the order of its file.

        ``catalog`` is what the principal may see. Raises IndexUnavailable.
        """
        return tuple(definition for definition, _ in await self._find_known(database, catalog))

    async def _find_known(self, database: str, catalog: Catalog) -> tuple[_Named, ...]:
        file = self._files.get(database)
        if file is None:
            return ()
        whole = await self._catalogs.catalog(catalog.database)
        held = self._whole.get(database)
        if held is None or held[0] is not whole:
            resolved, _ = await run_in_parser_thread(resolve_definitions, file, whole)

            def limit(visible: Catalog) -> tuple[_Named, ...]:
                built = ((each, each.build(visible, file.name)) for each in resolved)
                return tuple((definition, each.phrases) for each, definition in built if definition)

            held = self._whole[database] = (whole, PerCatalog(limit))
        return held[1].of(catalog)


def _read_trial(fix: TrialFix, visible: Catalog, whole: Catalog) -> _Named:
    """The definition on trial, over what the principal sees: its errors name nothing else.

    It has to mean the same in the whole catalog, over which it is read once it is kept.
    """
    try:
        is_figure = has_aggregate(fix.expression, visible.dialect)
        section = "measures" if is_figure else "filters"
        parts = Semantics.model_validate({"version": 1, section: {fix.name: fix.expression}})
        file = SemanticsFile(parts)
        resolved, problems = resolve_definitions(file, visible)
        reason = problems[0].text if problems else ""
        kept, _ = resolve_definitions(file, whole)
        if list(map(_list_names, kept)) != list(map(_list_names, resolved)):
            resolved, reason = (), reason or _AMBIGUOUS
    except UnusableDefinition as error:
        resolved, reason = (), str(error)
    except ValidationError as error:
        resolved, reason = (), read_problem(error.errors()[0]).text
    definition = resolved[0].build(visible) if resolved else None
    if definition is None:
        raise _refuse(reason)
    return definition, resolved[0].phrases


def _list_names(resolved: Resolved) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return resolved.tables, resolved.list_columns()


def _refuse(reason: str) -> InvalidRequest:
    return InvalidRequest(f"It cannot be defined so: {reason}", field="expression")


def choose_definitions(question: str, known: Iterable[_Named]) -> tuple[Definition, ...]:
    """At most five definitions that the question names, in the order of the question.

    A phrase inside another one does not count: "net revenue" is not "revenue".
    """
    asked = content_words(question)
    found: list[tuple[frozenset[int], Definition]] = []
    for definition, phrases in known:
        matches = [
            (span, phrase) for phrase in phrases if (span := find_phrase(phrase, asked)) is not None
        ]
        if matches:
            span, phrase = max(matches, key=lambda match: len(match[0]))
            found.append((span, replace(definition, phrase=phrase.text)))
    found.sort(key=lambda match: (-len(match[0]), min(match[0]), match[1].name))
    chosen: list[tuple[frozenset[int], Definition]] = []
    for span, definition in found:
        if not any(span <= other for other, _ in chosen):
            chosen.append((span, definition))
    chosen = sorted(chosen[:MOST_DEFINITIONS], key=lambda match: min(match[0]))
    return tuple(definition for _, definition in chosen)
