"""Access through an assistant: what a principal may see of its database, of the assistant's tables.

Only ever less than the principal may see without it. Row filters and SQL views still read the
tables that they need, as the policy says.
"""

from __future__ import annotations

from dataclasses import replace
from fnmatch import fnmatchcase

from execution.name_resolution.scopes import NameResolver
from execution.policies.access import Access, CompiledPolicy, RoleView
from execution.policies.rules import TableRule
from nl2sql.catalog import Catalog
from nl2sql.errors import PolicyError
from nl2sql.settings.database import AssistantSettings
from nl2sql.types import Principal, Violation


class AssistantView:
    """The access of all principals through one assistant; ``whole`` is that to its database."""

    def __init__(
        self, name: str, assistant: AssistantSettings, whole: Access | CompiledPolicy
    ) -> None:
        """Raises PolicyError for patterns that no table matches."""
        self.whole = whole
        self._patterns = assistant.tables or ("*",)
        # By what a set of roles sees, as each has one visible catalog.
        self._parts: dict[RoleView | None, tuple[Catalog, NameResolver, RoleView | None]] = {}
        names = [table.qualified for table in whole.catalog.tables]
        unmatched = [
            pattern
            for pattern in assistant.tables
            if not any(fnmatchcase(table, pattern) for table in names)
        ]
        if unmatched:
            raise PolicyError(
                f"assistants.{name}.tables: no table of {assistant.database} matches "
                f"{', '.join(unmatched)}.",
                hint="Patterns are of schema.table, and upper and lower case differ. "
                "`quorumsql index build` again if the database has changed.",
            )

    def access(self, principal: Principal) -> Access | Violation:
        """What ``principal`` may see through the assistant, or why it may see nothing."""
        whole = self.whole
        access = whole if isinstance(whole, Access) else whole.access(principal)
        if isinstance(access, Violation):
            return access
        part = self._parts.get(access.view)
        if part is None:
            catalog = self.show(access.catalog)
            resolver = NameResolver(catalog, whole.catalog)
            part = (catalog, resolver, self._build_view(access, resolver))
            self._parts[access.view] = part
        return replace(access, catalog=part[0], resolver=part[1], view=part[2])

    def _build_view(self, access: Access, shown: NameResolver) -> RoleView | None:
        """Without a policy a view is needed only where barriers may be."""
        if len(shown.catalog.tables) == len(access.catalog.tables):
            return access.view
        if access.view is not None:
            return RoleView(access.view.roles, self.whole.catalog, shown)
        if all(each.kind != "view" for each in shown.catalog.tables):
            return None
        every = {each.qualified: TableRule(each, each.columns) for each in access.catalog.tables}
        return RoleView((every,), access.catalog, shown)

    def show(self, catalog: Catalog) -> Catalog:
        """The part of ``catalog`` that the assistant shows."""
        return catalog.keep(
            table
            for table in catalog.tables
            if any(fnmatchcase(table.qualified, pattern) for pattern in self._patterns)
        )
