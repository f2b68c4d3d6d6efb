"""The second wall of a configured database: which logins, which policy, and whether it stands."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from execution.policies.access import CompiledPolicy
from execution.policies.policy_file import load_policy
from execution.policies.row_level_security.apply import (
    check_applied,
    find_index_role,
    read_own_security,
)
from execution.policies.row_level_security.ddl import Wall, build_wall, check_dialect
from execution.postgres.embedded import SUPERUSER, build_embedded_url
from nl2sql.errors import PolicyError
from serve_app.composition.wiring import Wiring


def owner_url(wiring: Wiring, database: str) -> str:
    """The URL under which the wall is built: the indexer's, or who owns an embedded database.

    Raises SettingsError.
    """
    settings = wiring.settings.databases[database]
    connection = settings.indexer or settings.reader
    if connection.is_embedded:
        name = connection.embedded_database(database)
        return build_embedded_url(wiring.socket_folder, name, SUPERUSER)
    return wiring.indexer_url(database)


def find_reader(wiring: Wiring, database: str) -> str:
    """The login that queries run under. Raises SettingsError."""
    return find_login(wiring.reader_url(database))


def find_login(url: str) -> str:
    """Who logs in under the URL; empty where it names nobody."""
    return unquote(urlsplit(url).username or "")


def build_database_wall(wiring: Wiring, database: str, compiled: CompiledPolicy) -> Wall:
    """The wall, as the database is now. Raises SettingsError, PolicyError, DatabaseUnavailable."""
    check_dialect(database, wiring.settings.databases[database].dialect)
    own_security = read_own_security(wiring.indexer_url(database), database)
    reader = find_reader(wiring, database)
    if not reader:
        raise PolicyError(
            f"databases.{database}.reader.url names no login.",
            hint="Write postgresql://login@host/database: the roles are granted to that login.",
        )
    indexer = find_login(wiring.indexer_url(database))
    return build_wall(compiled, reader=reader, indexer=indexer, own_security=own_security)


def stands_unused(wiring: Wiring, database: str) -> bool:
    """Whether the wall stands in a database whose settings do not use it.

    Raises SettingsError, DatabaseUnavailable.
    """
    settings = wiring.settings.databases[database]
    if settings.dialect != "postgres" or settings.policy is None or settings.second_wall:
        return False
    return bool(find_index_role(wiring.indexer_url(database), database))


def check_second_wall(wiring: Wiring, database: str) -> str:
    """What is wrong with the wall in the database; empty when it is what the policy says now.

    Raises SettingsError, PolicyError, DatabaseUnavailable.
    """
    settings = wiring.settings.databases[database]
    if settings.policy is None:
        raise PolicyError(
            f"databases.{database}.second_wall is on, but there is no policy.",
            hint=f"Name a file under databases.{database}.policy, or set second_wall to false.",
        )
    check_dialect(database, settings.dialect)
    compiled = CompiledPolicy(
        load_policy(settings.policy), wiring.source(database).read_catalog(), second_wall=True
    )
    wall = build_database_wall(wiring, database, compiled)
    return check_applied(wiring.indexer_url(database), wall)
