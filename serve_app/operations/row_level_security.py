"""The policy of a configured database, and row-level security by it: its owner and its plan."""

from __future__ import annotations

from execution.policies.access import CompiledPolicy
from execution.policies.policy_file import load_policy
from execution.policies.row_level_security.apply import find_index_role
from execution.policies.row_level_security.ddl import RowSecurity, build_row_security, check_dialect
from execution.postgres.embedded import SUPERUSER, build_embedded_url
from nl2sql.errors import PolicyError, SettingsError
from serve_app.composition.database_kinds import find_login
from serve_app.composition.wiring import Wiring


def owner_url(wiring: Wiring, database: str) -> str:
    """The URL of the login that applies it: the indexer, or the superuser of the embedded server.

    Raises SettingsError.
    """
    settings = wiring.settings.databases[database]
    connection = settings.indexer or settings.reader
    if connection.is_embedded:
        name = connection.embedded_database(database)
        return build_embedded_url(wiring.socket_folder, name, SUPERUSER)
    return wiring.indexer_url(database)


def compile_policy(wiring: Wiring, database: str) -> CompiledPolicy:
    """The policy, compiled against the current catalog.

    Raises SettingsError if there is none, PolicyError, DatabaseUnavailable.
    """
    settings = wiring.settings.databases[database]
    if settings.policy is None:
        raise SettingsError(
            f"The database {database!r} has no policy.",
            hint=f"Name a file under databases.{database}.policy.",
        )
    return CompiledPolicy(
        load_policy(settings.policy),
        wiring.source(database).read_catalog(),
        row_level_security=settings.row_level_security,
    )


def plan_row_security(wiring: Wiring, database: str) -> RowSecurity:
    """The statements that apply the policy to the database in its current state.

    Raises SettingsError, PolicyError, DatabaseUnavailable.
    """
    check_dialect(database, wiring.settings.databases[database].dialect)
    reader = find_login(wiring.reader_url(database))
    if not reader:
        raise PolicyError(
            f"databases.{database}.reader.url names no login.",
            hint="Write postgresql://login@host/database: the roles are granted to that login.",
        )
    indexer = find_login(wiring.indexer_url(database))
    compiled = compile_policy(wiring, database)
    return build_row_security(compiled, reader=reader, indexer=indexer)


def is_applied_but_unused(wiring: Wiring, database: str) -> bool:
    """Whether row-level security is applied in a database whose settings do not use it.

    Raises SettingsError, DatabaseUnavailable.
    """
    settings = wiring.settings.databases[database]
    if settings.dialect != "postgres" or settings.policy is None or settings.row_level_security:
        return False
    return bool(find_index_role(wiring.indexer_url(database), database))
