"""Text in double quotes, as in MySQL and SQLite."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.facts import Facts

# The places of values, in which names are unlikely.
_VALUES = (exp.Binary, exp.In, exp.Between, exp.Anonymous, exp.Case, exp.If, exp.Tuple, exp.Func)


def double_quoted_text(tree: exp.Expr, facts: Facts) -> bool:
    """``name = "Smith"`` becomes ``name = 'Smith'`` if nothing has the name ``Smith``.

    ``"t.name"`` becomes ``t.name``. Not on SQLite, which has the same rule itself.
    """
    if facts.target == "sqlite":
        return False
    known = facts.names | {alias.alias.lower() for alias in find_all(tree, exp.Alias)}
    known |= {alias.name.lower() for alias in find_all(tree, exp.TableAlias)}
    known |= {
        name.name.lower()
        for alias in find_all(tree, exp.TableAlias)
        for name in alias.args.get("columns") or ()
    }
    changed = False
    for column in list(find_all(tree, exp.Column)):
        is_quoted = isinstance(column.this, exp.Identifier) and column.this.quoted
        if not is_quoted or column.table or column.name.lower() in known:
            continue
        table, _, name = column.name.partition(".")
        if name.lower() in known and (table.lower() in known or not facts.tables):
            column.replace(exp.column(name, table=table))
            changed = True
        elif isinstance(column.parent, _VALUES) and not _is_compared(column):
            column.replace(exp.Literal.string(column.name))
            changed = True
    return changed


def _is_compared(column: exp.Column) -> bool:
    """Whether it is the left side of a comparison, which is usually a name."""
    parent = column.parent
    is_left = isinstance(parent, exp.Predicate) and parent.this is column
    other = parent.args.get("expression") if parent else None
    return is_left and not isinstance(other, exp.Column)
