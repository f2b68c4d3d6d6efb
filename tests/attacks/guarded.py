"""The way that a query takes in the product: the guard, then the read-only reader of its engine."""

from __future__ import annotations

import asyncio
from pathlib import Path

from execution.executor import Database
from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.policy_file import load_policy
from nl2sql.catalog import Catalog
from nl2sql.types import Diagnostic, GuardedQuery, Principal, ResultSet, Violation
from tests.attacks.attack import FIXTURES, FOLDER
from tests.fakes import FakeCatalogs

POLICY = FIXTURES / "policy.yaml"
# Who attacks: all work in department 1. Roles are those of the policy.
PRINCIPALS = {
    name: Principal(f"a {name}", tuple(name.split(" and ")), (("department_id", 1),))
    for name in ("member", "manager", "auditor", "member and auditor")
}
# What stands in rows of other departments only: no answer to anybody but the auditor may hold it.
WITHHELD = ("Dora", "Emil", "Fay", "Gus", "7770", "6100", "9900", "gold", "theirs")

_MOST_ROWS = 1000


class GuardedWay:
    """One engine's database behind the guard and the policy of the scratch database.

    ``database`` gives a statement time, ``hasty`` ends it soon. ``folder`` is what FOLDER stands
    for in a statement.
    """

    def __init__(
        self,
        catalog: Catalog,
        database: Database,
        hasty: Database,
        runner: asyncio.Runner,
        folder: Path,
    ) -> None:
        policy = load_policy(POLICY)
        policies = {catalog.database: PolicySettings(policy)}
        self._guard = SqlGuard(FakeCatalogs(catalog), policies)
        self._name = catalog.database
        self._databases = {False: database, True: hasty}
        self._runner = runner
        self._folder = folder

    def guard(self, sql: str, role: str) -> GuardedQuery | Violation:
        """The guard's answer."""
        filled = sql.replace(FOLDER, str(self._folder))
        return self._runner.run(self._guard.guard(self._name, filled, PRINCIPALS[role]))

    def execute(self, query: GuardedQuery, *, hasty: bool = False) -> ResultSet | Diagnostic:
        """The reader's answer."""
        return self._runner.run(self._databases[hasty].execute(query, _MOST_ROWS))

    def close(self) -> None:
        """Closes both databases."""
        for database in self._databases.values():
            self._runner.run(database.close())
