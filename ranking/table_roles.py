"""What a row of a table is where a query reads the table several times: employees, and the manager.

It is called by the column that refers to it, else by its alias. The names alone tell it: a key is
`id`, or called like its table (`employee_id`). Knows nothing of a schema.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from sqlglot import exp

_REFERS = re.compile(r"(?:_(?:id|key|no|code)|(?<=[a-z])(?:Id|Key|No|Code))$")


def name_roles(select: exp.Select, tables: Mapping[str, str]) -> dict[str, str]:
    """The roles by folded alias; of ``tables``, those that are read once or plainly have none.

    >>> sql = "SELECT 1 FROM staff e JOIN staff m ON e.manager_id = m.id"
    >>> name_roles(exp.maybe_parse(sql), {"e": "staff", "m": "staff"})
    {'m': 'the manager'}
    >>> name_roles(exp.maybe_parse("SELECT 1 FROM t a, t b"), {"a": "t", "b": "t"})
    {'a': 'a', 'b': 'b'}
    """
    number = Counter(map(str.lower, tables.values()))
    twice = [alias for alias, table in tables.items() if number[table.lower()] > 1]
    roles = dict(_list_referring(select, tables)) if twice else {}
    uses = Counter((tables[alias].lower(), roles.get(alias, "")) for alias in twice)
    for alias in twice:
        if uses[tables[alias].lower(), roles.get(alias, "")] > 1:
            roles[alias] = alias
    return {
        alias: roles[alias] for alias in twice if roles.get(alias, tables[alias]) != tables[alias]
    }


def _list_referring(select: exp.Select, tables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The aliases whose key another column equals, and what that column calls the row."""
    clauses = (*(select.args.get("joins") or ()), select.args.get("where"))
    for clause in filter(None, clauses):
        for equal in clause.find_all(exp.EQ):
            for own, other in ((equal.this, equal.expression), (equal.expression, equal.this)):
                if not (isinstance(own, exp.Column) and isinstance(other, exp.Column)):
                    continue
                table = tables.get(own.table.lower(), "").lower()
                key, role = _REFERS.sub("", own.name), _REFERS.sub("", other.name)
                is_key = own.name.lower() == "id" or (key != own.name and key.lower() in table)
                if is_key and own.name.lower() != other.name.lower():
                    yield own.table.lower(), f"the {role.replace('_', ' ').lower()}"
