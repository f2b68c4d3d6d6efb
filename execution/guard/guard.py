"""The guard: only the queries that ``guard`` returns reach a database.

Assumes that the model is hostile. Guarantees: exactly one query; every node type, function, cast,
table and column is on an allowlist. The allowed tables and columns are those in the index (which
has only what the reader may SELECT) that the principal may see. If there is a policy, every
physical table is replaced by the derived table of its visible rows and columns. The SQL that runs
is rendered from the checked tree, without comments, and checked a second time by other means:
PostgreSQL's own grammar, or a second parse. The guard refuses what it cannot parse or resolve.

Does not limit how long a query takes, apart from what ``growth.py`` finds in its text: the
databases limit that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp
from sqlglot.errors import SqlglotError

from execution.allowlists import Allowlist, load_allowlist
from execution.duckdb.second_check import (
    check_grammar as check_duckdb,
    parse_statement as parse_duckdb,
)
from execution.guard.advice import describe_refusal, describe_unreadable, find_advice
from execution.guard.growth import check_query_size
from execution.guard_dialects import READERS, parse_statements, render_sql
from execution.name_resolution.scopes import Resolution, Unresolved
from execution.name_resolution.walk import resolve_names
from execution.parsing.call_spelling import is_bare_identifier
from execution.parsing.comments import find_odd_space, strip_comments
from execution.policies.access import Access, CompiledPolicy, open_access
from execution.policies.assistant import AssistantView
from execution.policies.grouping import complete_groups
from execution.policies.parameters import Parameters
from execution.policies.policy_file import Policy
from execution.policies.row_conditions import describe_rows
from execution.policies.views import qualify_table, replace_table
from execution.policies.wrappers import Wrapper, list_reads
from execution.postgres.second_check import check_grammar, list_extended, list_functions
from execution.sqlite.second_check import (
    check_functions as check_sqlite,
    check_syntax,
    check_wrapped,
)
from nl2sql.catalog import Catalog
from nl2sql.errors import QuorumError
from nl2sql.protocols import CatalogSource
from nl2sql.settings.database import AssistantSettings
from nl2sql.sql.names import fold_name
from nl2sql.sql.nodes import find_all
from nl2sql.sql.parsing import describe_parse_error
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import GuardedQuery, Principal, Violation

_LONGEST_SQL = 20_000

_ROOTS = (exp.Select, exp.SetOperation, exp.Subquery, exp.Values)


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """A database's policy, and whether row-level security enforces it too."""

    policy: Policy
    row_level_security: bool = False


class SqlGuard:
    """Guards queries against the indexed catalogs and the databases' policies."""

    def __init__(
        self,
        catalogs: CatalogSource,
        policies: Mapping[str, PolicySettings] | None = None,
        allowlists: Mapping[str, Allowlist] | None = None,
        assistants: Mapping[str, AssistantSettings] | None = None,
    ) -> None:
        """``policies`` and ``allowlists`` are by database; by default, the dialect's allowlist.

        All methods take the name of an assistant for that of a database.
        """
        self._catalogs = catalogs
        self._policies = dict(policies or {})
        self._allowlists = dict(allowlists or {})
        self._assistants = dict(assistants or {})
        # Each database's indexed catalog, and access to all of it, or the policy compiled for it.
        self._known: dict[str, tuple[Catalog, Access | CompiledPolicy]] = {}
        self._views: dict[str, AssistantView] = {}

    async def guard(
        self, database: str, sql: str, principal: Principal
    ) -> GuardedQuery | Violation:
        """Rewrites ``sql`` so that ``principal`` may run it, or returns why it is refused.

        Raises IndexUnavailable, and PolicyError if the policy no longer fits the catalog.
        """
        access = await self.access(database, principal)
        if isinstance(access, Violation):
            return access
        verdict = await run_in_parser_thread(
            guard_query, sql, access, self._allowlists.get(access.catalog.database)
        )
        if isinstance(verdict, Violation):
            return verdict
        return replace(verdict, principal=principal.name)

    async def visible_catalog(self, database: str, principal: Principal) -> Catalog | Violation:
        """The part of the catalog that ``principal`` may see. Raises the errors of ``guard``."""
        access = await self.access(database, principal)
        return access if isinstance(access, Violation) else access.catalog

    async def open_columns(self, database: str, principal: Principal) -> frozenset[str] | None:
        """The columns of which ``principal`` may see every stored value; see ``Access``.

        Raises the errors of ``guard``.
        """
        access = await self.access(database, principal)
        return frozenset() if isinstance(access, Violation) else access.open_columns

    async def describe_rows(
        self, database: str, principal: Principal, tables: Iterable[str]
    ) -> tuple[tuple[str, str], ...]:
        """See ``row_conditions.describe_rows``. Raises the errors of ``guard``."""
        access = await self.access(database, principal)
        return () if isinstance(access, Violation) else describe_rows(access, tables)

    async def masked_columns(
        self, database: str, principal: Principal, table: str
    ) -> frozenset[str]:
        """See ``Access.masked_columns``. Raises the errors of ``guard``."""
        access = await self.access(database, principal)
        return frozenset() if isinstance(access, Violation) else access.masked_columns(table)

    async def access(self, database: str, principal: Principal) -> Access | Violation:
        """What ``principal`` may see of the database. Raises the errors of ``guard``."""
        known = await self._find(database)
        return known if isinstance(known, Access) else known.access(principal)

    async def _find(self, database: str) -> Access | CompiledPolicy | AssistantView:
        assistant = self._assistants.get(database)
        if assistant is None:
            return await self._find_whole(database)
        whole = await self._find_whole(assistant.database)
        view = self._views.get(database)
        if view is None or view.whole is not whole:
            view = self._views[database] = AssistantView(database, assistant, whole)
        return view

    async def _find_whole(self, database: str) -> Access | CompiledPolicy:
        catalog = await self._catalogs.catalog(database)
        known = self._known.get(database)
        if known is not None and known[0] is catalog:
            return known[1]
        # Not in the event loop, as it reads the queries of all views.
        return await run_in_parser_thread(self._compile, database, catalog)

    async def check(self, database: str) -> None:
        """Checks the policy of ``database``, or the tables of an assistant, against the catalog.

        Raises PolicyError if they do not fit, IndexUnavailable.
        """
        await self._find(database)

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """Pairs (``policy NAME``, problem or empty) for every policy and every assistant."""
        found = []
        for database in (*self._policies, *self._assistants):
            problem = ""
            try:
                await self.check(database)
            except QuorumError as error:
                problem = str(error)
            found.append((f"policy {database}", problem))
        return tuple(found)

    def _compile(self, database: str, catalog: Catalog) -> Access | CompiledPolicy:
        known, settings = self._known.get(database), self._policies.get(database)
        if known is not None and known[0] is catalog:  # another question was faster
            return known[1]
        access: Access | CompiledPolicy
        if settings is None:
            access = open_access(catalog)
        else:
            access = CompiledPolicy(
                settings.policy, catalog, row_level_security=settings.row_level_security
            )
        self._known[database] = catalog, access
        return access


def guard_query(
    sql: str, access: Access, allowlist: Allowlist | None = None
) -> GuardedQuery | Violation:
    """Checks and rewrites one query; a pure function."""
    allowlist = allowlist or load_allowlist(access.catalog.dialect)
    verdict = _guard(sql, access, allowlist)
    if isinstance(verdict, Violation) and access.catalog.dialect == "postgres":
        advice = find_advice(sql)
        return replace(verdict, message=f"{verdict.message} {advice}".rstrip())
    return verdict


def _guard(sql: str, access: Access, allowlist: Allowlist) -> GuardedQuery | Violation:
    tree = _parse_query(sql, access.catalog.dialect, allowlist)
    if isinstance(tree, Violation):
        return tree
    try:
        return _rewrite(sql, tree, access, allowlist)
    except Unresolved as refusal:
        return refusal.violation
    except (SqlglotError, RecursionError) as error:
        return Violation("unresolved", "", describe_parse_error(error))


def _parse_query(sql: str, dialect: str, allowlist: Allowlist) -> exp.Expr | Violation:
    if len(sql) > _LONGEST_SQL:
        return Violation("too_long", "", f"The query is longer than {_LONGEST_SQL} characters.")
    if not sql.isascii() and any("\ud800" <= letter <= "\udfff" for letter in sql):
        return Violation("unparsable", "", "It holds half of a surrogate pair.")
    plain = strip_comments(sql, dialect)
    if dialect != "duckdb" and (odd := find_odd_space(plain, dialect)):
        return Violation("unparsable", odd, f"U+{ord(odd):04X} is no space to the database.")
    try:
        statements = parse_statements(sql, dialect)
    except (SqlglotError, RecursionError) as error:
        return Violation("unparsable", "", describe_unreadable(sql, dialect, error))
    if len(statements) != 1:
        return Violation("multiple_statements", "", "Exactly one statement is allowed.")
    tree = statements[0]
    if not isinstance(tree, _ROOTS):
        kind = type(tree).__name__
        called = tree.name.upper() if isinstance(tree, exp.Command) else kind
        refusal = describe_refusal(kind, f"Only a query may run, this is {called}.")
        return Violation("not_a_query", kind, refusal)
    for node in list(find_all(tree, exp.Expr)):
        if isinstance(node, exp.Identifier) and is_bare_identifier(node):
            return Violation(
                "unexplained_column", node.name, f"The meaning of {node.name} here is not clear."
            )
        kind = type(node).__name__
        if not allowlist.has_tree_node(type(node)):
            refusal = describe_refusal(kind, f"{kind} is not allowed in a query.")
            return Violation("node_not_allowed", node.sql(READERS[dialect])[:80], refusal)
    try:
        # What DuckDB does not read, sqlglot may: it forgives a missing parenthesis, for example.
        reading = parse_duckdb(plain) if dialect == "duckdb" else None
    except RecursionError as error:
        return Violation("unparsable", "", describe_parse_error(error))
    return reading if isinstance(reading, Violation) else tree


def _rewrite(
    query: str, tree: exp.Expr, access: Access, allowlist: Allowlist
) -> GuardedQuery | Violation:
    catalog = access.catalog
    nodes = list(find_all(tree, exp.Expr))
    found = resolve_names(tree, nodes, access.resolver)
    if violation := check_query_size(nodes, found, catalog.dialect):
        return violation
    # Before the wrappers are in the tree: their functions are not the query's.
    if catalog.dialect == "sqlite" and (violation := check_sqlite(tree, allowlist)):
        return violation
    attributes = access.policy.attributes if access.policy else {}
    parameters = Parameters(access.values, attributes, catalog.dialect)
    wrappers: dict[str, Wrapper] = {}
    texts: dict[str, set[str]] = {}
    for node, table, source in found.tables:
        if access.view is None:
            qualify_table(node, table)
            continue
        wrapper = wrappers[table.qualified] = access.view.wrap(source)
        text = parameters.fill(wrapper.text)
        texts.setdefault(table.qualified, set()).add(text)
        replace_table(node, text)
    if access.view is not None:
        complete_groups(found, access.resolver)
    sql = render_sql(tree, catalog.dialect)
    tables = frozenset(table.qualified for _, table, _ in found.tables)
    if violation := _check_again(query, sql, tables, texts, access, allowlist):
        return violation
    reads = frozenset[str]().union(*(wrapper.reads for wrapper in wrappers.values()))
    return GuardedQuery(
        database=catalog.database,
        sql=sql,
        tables=tuple(sorted(reads or tables)),
        named=tuple(sorted(tables)),
        predicates=tuple(
            f"{name}: {wrapper.predicate}"
            for name, wrapper in sorted(wrappers.items())
            if wrapper.predicate
        ),
        params=tuple(parameters.params),
        row_rules=describe_rows(access, sorted(wrappers)),
        dialect=catalog.dialect,
        # An error could quote a value that only a view reads.
        restricted=access.restricted
        or (access.view is not None and any(map(access.view.leaves_out, wrappers))),
        session=access.session,
        avoids_index_order=any(wrapper.avoids_index_order for wrapper in wrappers.values()),
        functions=_list_functions(catalog.dialect, texts),
        extended=list_extended(sql, allowlist.extended),
        reads=_list_reads(access, found, texts),
    )


def _list_reads(
    access: Access, found: Resolution, texts: Mapping[str, Collection[str]]
) -> frozenset[str] | None:
    """The columns that the query may read; ``texts`` are its wrappers."""
    dialect = access.catalog.dialect
    if dialect == "postgres":
        return None
    if access.view is not None:
        reads = [list_reads(text, dialect) for wrappers in texts.values() for text in wrappers]
        return frozenset[str]().union(*reads)
    return frozenset(
        fold_name(f"{table.qualified}.{column}", dialect)
        for _, table, _ in found.tables
        # All columns: in DuckDB even `current_date` is a column if a table has one of that name.
        for column in access.resolver.list_columns(table)
    )


def _list_functions(dialect: str, texts: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """The functions that the wrappers call, on databases whose plans are checked for them."""
    if dialect != "postgres":
        return ()
    called = (list_functions(text) for wrappers in texts.values() for text in wrappers)
    return tuple(sorted(frozenset[str]().union(*called)))


def _check_again(
    query: str,
    sql: str,
    tables: frozenset[str],
    texts: Mapping[str, set[str]],
    access: Access,
    allowlist: Allowlist,
) -> Violation | None:
    """Checks ``sql``, which will run, a second time; ``query`` is what it was made of."""
    if "\0" in sql:
        # A database would stop reading there.
        return Violation("unparsable", "", "It holds a null character.")
    expected = texts if access.view is not None else None
    if access.catalog.dialect == "postgres":
        return check_grammar(query, sql, tables, allowlist, access.catalog, expected)
    if access.catalog.dialect == "duckdb":
        return check_duckdb(sql, tables, allowlist, expected)
    # Last, since other refusals say more.
    return check_wrapped(sql, tables, expected) or check_syntax(query)
