"""``quorumsql policy``: checks, tests and applies policies."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, cast

import typer
from rich.markup import escape
from rich.syntax import Syntax

from execution.executor import ReadOnlyExecutor
from execution.guard.guard import guard_query
from execution.guard_dialects import READERS
from execution.policies.access import Access, CompiledPolicy, open_access
from execution.policies.assistant import AssistantView
from execution.policies.row_level_security.apply import apply_row_security, remove_row_security
from execution.policies.row_level_security.blocks import build_removal, render_script
from execution.policies.row_level_security.ddl import check_dialect, render_head
from execution.policies.rules import TableRule, render_path
from nl2sql.concurrency import closing
from nl2sql.errors import PolicyError
from nl2sql.settings.database import AssistantSettings
from nl2sql.sql.names import enquote
from nl2sql.types import Diagnostic, GuardedQuery, ResultSet, Violation
from serve_app.cli.context import CliContext
from serve_app.cli.output import Output, build_json, confirm, print_table, prints, say, write_text
from serve_app.cli.terminal import CONSOLE, ERRORS, TerminalReporter
from serve_app.composition.database_kinds import read_allowlist
from serve_app.composition.wiring import Wiring
from serve_app.operations.preparation import (
    build_wiring,
    load_demo_databases,
    start_embedded_server,
)
from serve_app.operations.row_level_security import compile_policy, owner_url, plan_row_security
from serve_app.reporting import SILENT

app = typer.Typer(no_args_is_help=True)

_MOST_ROWS = 20
# The exit code if a query was refused or failed.
_NOT_RUN = 2

Database = Annotated[str | None, typer.Argument(help="The database; default: the default one.")]
Asked = Annotated[
    str | None, typer.Argument(help="The database or assistant; default: the default one.")
]


def _prepare(cli: CliContext, name: str | None) -> tuple[Wiring, str]:
    """Starts the embedded server if it is used; returns the wiring and the name.

    Raises UnknownDatabase, DatabaseUnavailable.
    """
    settings = cli.settings
    database = settings.database_name(name)
    server = start_embedded_server(settings, TerminalReporter(ERRORS))
    if server is not None:
        load_demo_databases(settings, server, SILENT)
    return build_wiring(settings, server), database


def _compile(wiring: Wiring, name: str) -> tuple[CompiledPolicy, AssistantView]:
    """The database's policy, and the access through ``name``: all tables if it is no assistant.

    Raises the errors of ``compile_policy``.
    """
    settings = wiring.settings
    compiled = compile_policy(wiring, settings.source_of(name))
    assistant = settings.assistants.get(name, AssistantSettings(database=name))
    return compiled, AssistantView(name, assistant, compiled)


@app.command("check")
@prints
def check(
    context: typer.Context,
    database: Asked = None,
    role: Annotated[
        str | None, typer.Option(help="Show which rows and columns this role sees, and why.")
    ] = None,
) -> Output:
    """Check the policy file against the database: names, foreign keys and filters."""
    wiring, name = _prepare(context.obj, database)
    compiled, view = _compile(wiring, name)
    if role is None:
        roles = list(compiled.roles)
        told = f"✓ The policy fits {name}. Its roles: {', '.join(roles)}."
        return Output({"database": name, "roles": roles}, told)
    if role not in compiled.roles:
        raise PolicyError(
            f"There is no role {role!r}.", hint=f"Known: {', '.join(compiled.roles)}."
        )
    return Output(_describe_role(compiled, view, role))


def _describe_role(compiled: CompiledPolicy, view: AssistantView, role: str) -> dict[str, Any]:
    tables = []
    visible, written = view.show(compiled.catalog), compiled.policy.roles[role]
    named = {*written.hidden_columns, *written.masked_columns}

    def tell(table: str, column: str) -> str:
        """A withheld column; if the policy does not name it, with those whose values it shows."""
        if f"{table}.{column}" in named:
            return column
        sources = [
            ".".join(source)
            for source, shown in compiled.catalog.shown_by.items()
            if (table, column) in shown
        ]
        return f"{column} (shows {', '.join(sources)})"

    for name, rule in compiled.roles[role].items():
        if visible.table(name) is None:
            continue
        shown = {column.name for column in rule.columns}
        tables.append(
            {
                "table": name,
                "rows": describe_rows(rule, compiled.catalog.dialect),
                "hidden_columns": [
                    tell(name, column.name)
                    for column in rule.table.columns
                    if column.name not in shown
                ],
                "masked_columns": [tell(name, column) for column in sorted(rule.masks)],
            }
        )
    return {
        "role": role,
        "description": written.description,
        "hidden_tables": len(compiled.catalog.tables) - len(tables),
        "tables": tables,
    }


def describe_rows(rule: TableRule, dialect: str) -> str:
    """Describes the rows of a table that a role sees, in one line."""
    if rule.filter is not None:
        return rule.filter.sql(READERS[dialect]).replace("%(", ":").replace(")s", "")
    if rule.inherits is not None:
        return f"over {render_path(rule.path).removeprefix(rule.table.qualified)}"
    if rule.expands:
        return "those of its tables"
    return "all, shared" if rule.shared else "all"


@app.command("test")
@prints
def try_access(
    context: typer.Context,
    database: Asked = None,
    as_: Annotated[str, typer.Option("--as", help="The principal; default: the local one.")] = "",
    sql: Annotated[
        str, typer.Option(help="A query to guard and run; default: count the rows of each table.")
    ] = "",
) -> Output:
    """Count the rows that a principal sees of each table, or guard and run one query as it."""
    cli: CliContext = context.obj
    wiring, name = _prepare(cli, database)
    compiled, view = _compile(wiring, name)
    principal = cli.settings.identity.principal(as_)
    access = view.access(principal)
    if isinstance(access, Violation):
        raise PolicyError(access.message, hint="Name another principal with --as.")
    if sql:
        allowlist = read_allowlist(cli.settings.by_name[name])
        return asyncio.run(_run_query(wiring, guard_query(sql, access, allowlist)))
    # Under row-level security no query sees all rows.
    secured = cli.settings.by_name[name].row_level_security
    whole = None if secured else open_access(compiled.catalog)
    counts = asyncio.run(_count_tables(wiring, access, whole))
    return Output({"database": name, "principal": principal.name, "tables": counts})


async def _run_query(wiring: Wiring, verdict: GuardedQuery | Violation) -> Output:
    if isinstance(verdict, Violation):
        refused = {"outcome": "refused", "code": verdict.code, "reason": verdict.message}
        return Output(refused, exit_code=_NOT_RUN)
    async with closing(wiring.build_executor()) as executor:
        result = await executor.execute(verdict, _MOST_ROWS)
    guarded = {"sql": verdict.sql, "predicates": verdict.predicates, "params": list(verdict.params)}
    if isinstance(result, Diagnostic):
        failed = {"outcome": "failed", "code": result.sqlstate, "reason": result.message}
        return Output({**guarded, **failed}, exit_code=_NOT_RUN)
    document = {
        "outcome": "answered",
        **guarded,
        "columns": list(result.columns),
        "rows": [list(row) for row in result.rows],
        "truncated": result.truncated,
    }
    return Output(document, lambda: _print_result(verdict, result))


def _print_result(query: GuardedQuery, result: ResultSet) -> None:
    CONSOLE.print(Syntax(query.sql, "sql", word_wrap=True))
    for predicate in query.predicates:
        say(f"  only rows of {predicate}")
    for number, value in enumerate(query.params, start=1):
        say(f"  ${number} = {value!r}")
    print_table([dict(zip(result.columns, build_json(row), strict=True)) for row in result.rows])
    if result.truncated:
        say(f"The first {_MOST_ROWS} rows.")


async def _count_tables(
    wiring: Wiring, access: Access, whole: Access | None
) -> list[dict[str, int | str | None]]:
    """How many rows of each table the principal sees, and how many there are.

    A count that failed is the violation's code or the SQLSTATE.
    """
    found = []
    async with closing(wiring.build_executor()) as executor:
        for counted in access.catalog.tables:
            sql = f"SELECT count(*) FROM {enquote(counted.schema, counted.name)}"
            visible = await _count(executor, sql, access)
            in_all = None if whole is None else await _count(executor, sql, whole)
            found.append({"table": counted.qualified, "visible": visible, "in_all": in_all})
    return found


async def _count(executor: ReadOnlyExecutor, sql: str, access: Access) -> int | str:
    verdict = guard_query(sql, access)
    if isinstance(verdict, Violation):
        return verdict.code
    result = await executor.execute(verdict, 1)
    return result.sqlstate if isinstance(result, Diagnostic) else cast(int, result.rows[0][0])


@app.command("apply")
@prints
def apply(
    context: typer.Context,
    database: Database = None,
    as_sql: Annotated[
        bool, typer.Option("--sql", help="Only print the statements, for psql.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Undo it instead.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> Output:
    """Apply the policy in PostgreSQL itself: roles, grants and row-level security."""
    cli: CliContext = context.obj
    wiring, name = _prepare(cli, database)
    name = cli.settings.source_of(name)
    check_dialect(name, cli.settings.databases[name].dialect)
    if as_sql:
        if remove:
            script = render_script(build_removal(name))
        else:
            planned = plan_row_security(wiring, name)
            script = render_script(planned.script, head=render_head(planned))
        return Output({"database": name, "sql": script}, lambda: write_text(script))
    url = owner_url(wiring, name)
    security = None if remove else plan_row_security(wiring, name)
    what = (
        "Remove row-level security from" if remove else "Apply the policy as row-level security to"
    )
    confirm(f"{what} {name}?", yes=yes)
    if security is None:
        notices = remove_row_security(url, name)
    else:
        notices = apply_row_security(url, security)
    for text in notices:
        CONSOLE.print(f"[yellow]![/] {escape(text)}", soft_wrap=True)
    told = f"✓ {name}: row-level security is {'removed' if remove else 'applied'}."
    if cli.settings.databases[name].row_level_security == remove:
        told += (
            f"\nNow set databases.{name}.row_level_security to {str(not remove).lower()}, and "
            "restart the service: until then its queries fail."
        )
    return Output({"database": name, "applied": not remove, "notices": list(notices)}, told)
