"""The attacks on rows and columns, unguarded, against the policy inside PostgreSQL alone.

What the guard would refuse or rewrite reaches the database as it was written, under the role and
the settings that a guarded query of the same principal would have. Functions, statements and
catalogs are not row-level security's: the guard and the reading role hold those.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

import pytest

from execution.policies.access import Access, CompiledPolicy
from execution.policies.policy_file import load_policy
from execution.policies.row_level_security.apply import (
    apply_row_security,
    remove_row_security,
)
from execution.policies.row_level_security.ddl import build_row_security
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import INDEXER, READER, SUPERUSER, EmbeddedServer
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, ResultSet
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from tests.attacks.arenas import SECURED, Arena
from tests.attacks.attack import ATTACKS, HARMLESS, Attack, Engine, equal_rows
from tests.attacks.guarded import POLICY, PRINCIPALS, WITHHELD
from tests.execution.trusted import trust

_GROUPS = ("scopes", "oracles", "masks", "names", "rows", "spellings", "errors")
# With row-level security, a principal has exactly one role.
_ROLES = ("member", "manager")
_ON_ROWS = [
    attack
    for attack in ATTACKS
    if attack.engine == "postgres" and attack.group in _GROUPS and attack.role in _ROLES
]
_NO_RIGHT = "42501"


class SecuredAttack:
    """The reader to the secured database, without a guard before it."""

    def __init__(self, compiled: CompiledPolicy, url: str, runner: asyncio.Runner) -> None:
        self._compiled = compiled
        self._runner = runner
        self._database = PostgresDatabase(SECURED, url, LimitSettings(), search_path=("main",))

    def execute(self, attack: Attack) -> ResultSet | Diagnostic:
        """What the attack gets."""
        access = self._compiled.access(PRINCIPALS[attack.role])
        assert isinstance(access, Access)
        assert access.session is not None
        query = trust(
            SECURED,
            attack.sql,
            restricted=True,
            session=access.session,
            tables=tuple(table.qualified for table in self._compiled.catalog.tables),
        )
        return self._runner.run(self._database.execute(query, 1000))

    def close(self) -> None:
        """Closes the reader."""
        self._runner.run(self._database.close())


@pytest.fixture(scope="module")
def secured(arenas: Mapping[Engine, Arena], server: EmbeddedServer) -> Iterator[SecuredAttack]:
    url = server.url(SECURED, SUPERUSER)
    catalog = read_postgres_catalog(url, database=SECURED, reader_role=READER, schemas=("main",))
    policy = load_policy(POLICY).model_copy(update={"database": SECURED})
    compiled = CompiledPolicy(policy, catalog, row_level_security=True)
    apply_row_security(
        url,
        build_row_security(compiled, reader=READER, indexer=INDEXER),
    )
    with asyncio.Runner() as runner:
        way = SecuredAttack(compiled, server.url(SECURED, READER), runner)
        yield way
        way.close()
    remove_row_security(url, SECURED)


@pytest.mark.parametrize("attack", _ON_ROWS, ids=lambda attack: attack.id)
def test_the_wall_alone_lets_nothing_through(attack: Attack, secured: SecuredAttack) -> None:
    result = secured.execute(attack)
    if isinstance(result, Diagnostic):
        told = f"{result.message} {result.hint}"
        assert not [text for text in WITHHELD if text in told], told
        if attack.refused_as == HARMLESS:
            assert result.sqlstate == _NO_RIGHT, result
        return
    if attack.yields is not None:
        assert equal_rows(result.rows, attack.yields), result.rows
        return
    shown = repr(result.rows)
    assert not [text for text in (*WITHHELD, "-secret", "badge-") if text in shown], shown
