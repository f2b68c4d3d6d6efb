"""Loads a database's policy and compiles it against the current catalog."""

from __future__ import annotations

from execution.policies.access import Access, CompiledPolicy
from execution.policies.policy_file import load_policy
from nl2sql.errors import PolicyError, SettingsError
from nl2sql.settings import Settings
from nl2sql.types import Principal, Violation
from serve_app.cli.context import CliContext
from serve_app.composition.wiring import Wiring
from serve_app.operations.preparation import (
    build_wiring,
    load_demo_databases,
    start_embedded_server,
)
from serve_app.reporting import Silence


def prepare_database(cli: CliContext, name: str | None) -> tuple[Wiring, str]:
    """Starts the embedded server if it is used; returns the wiring and the database's name.

    Raises UnknownDatabase, SettingsError if the database has no policy.
    """
    settings: Settings = cli.settings
    database = settings.database_name(name)
    if settings.databases[database].policy is None:
        raise SettingsError(
            f"The database {database!r} has no policy.",
            hint=f"Name a file under databases.{database}.policy.",
        )
    server = start_embedded_server(settings)
    if server is not None:
        load_demo_databases(settings, server, Silence())
    return build_wiring(settings, server), database


def compile_policy(wiring: Wiring, database: str) -> CompiledPolicy:
    """The policy, compiled against the current catalog. Raises PolicyError, DatabaseUnavailable."""
    settings = wiring.settings.databases[database]
    if settings.policy is None:
        raise PolicyError(f"The database {database!r} has no policy.")
    return CompiledPolicy(
        load_policy(settings.policy),
        wiring.source(database).read_catalog(),
        row_level_security=settings.row_level_security,
    )


def find_access(compiled: CompiledPolicy, principal: Principal) -> Access:
    """The tables and rows that the principal may see. Raises PolicyError if there are none."""
    access = compiled.access(principal)
    if isinstance(access, Violation):
        raise PolicyError(access.message)
    return access
