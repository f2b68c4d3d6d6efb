"""The second check of names: every ``alias.name`` of the text that runs is a column.

PostgreSQL reads ``alias.name`` as the call ``name(alias)`` if the alias has no such column, and its
grammar shows both as the same node. So this module resolves every qualified name once more, on
PostgreSQL's own tree of the rewritten text and by PostgreSQL's rules, and refuses names that it
does not find. It shares no code with ``name_resolution/``, whose mistakes it must find.

The visibility of names follows PostgreSQL's parse_clause.c and parse_relation.c, the names of
outputs FigureColname of parse_target.c (REL_18). If these leave several answers, or a construct is
not known here, a source has fewer names than it really has.

Knows nothing of policies. Does not check unqualified names: those never become calls.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import postgast
from google.protobuf.descriptor import FieldDescriptor

from execution.postgres.trees import name_output
from nl2sql.catalog import Catalog
from nl2sql.types import Violation

Names = tuple[str, ...]
_MESSAGE = FieldDescriptor.TYPE_MESSAGE
_NO_SET_OPERATION = postgast.pg_query_pb2.SETOP_NONE


# The columns of each source that a query may name; then of those of the queries around it.
_Scope = ChainMap[str, Names]


@dataclass(eq=False, slots=True)
class _Cte:
    columns: Names = ()


_Ctes = dict[str, _Cte]


class _Unexplained(Exception):
    pass


def check_names(
    statement: Any, catalog: Catalog, find_wrapped: Callable[[Any], str]
) -> Violation | None:
    """Returns None if every qualified name of ``statement``, a SelectStmt, is found.

    ``catalog`` has the columns of tables. The inside of a wrapper is not checked: ``find_wrapped``
    tells the table that a SelectStmt is the wrapper of, or an empty text.
    """
    try:
        _NameResolution(catalog, find_wrapped).read_select(statement, ChainMap(), {})
    except _Unexplained as error:
        name = str(error)
        return Violation("unexplained_column", name[:80], f"The column {name} cannot be traced.")
    return None


class _NameResolution:
    def __init__(self, catalog: Catalog, find_wrapped: Callable[[Any], str]) -> None:
        self._catalog = catalog
        self._find_wrapped = find_wrapped

    # -- queries -------------------------------------------------------------------------------

    def read_select(
        self, statement: Any, parent: _Scope, ctes: _Ctes, own: _Cte | None = None
    ) -> Names:
        """The names of the outputs. ``own`` is the CTE whose query this is, if it is recursive."""
        ctes = self._read_with(statement, parent, ctes)
        if statement.op != _NO_SET_OPERATION:
            names = self.read_select(statement.larg, parent, ctes)
            if own is not None:
                own.columns = _rename(names, own.columns)
            self.read_select(statement.rarg, parent, ctes)
            self._read_rest(statement, ("larg", "rarg"), parent.new_child(), ctes)
            return names
        scope = parent.new_child()
        columns: Names = ()
        for item in statement.from_clause:
            sources, names = self._read_source(item, parent.new_child(dict(scope.maps[0])), ctes)
            _add(scope, sources)
            columns += names
        self._read_rest(statement, ("from_clause",), scope, ctes)
        if statement.values_lists:
            width = len(statement.values_lists[0].list.items)
            return tuple(f"column{at + 1}" for at in range(width))
        outputs: Names = ()
        for target in statement.target_list:
            outputs += self._list_outputs(target.res_target, columns, scope)
        return outputs

    def _read_rest(self, statement: Any, done: Iterable[str], scope: _Scope, ctes: _Ctes) -> None:
        for descriptor, value in statement.ListFields():
            if descriptor.type == _MESSAGE and descriptor.name not in (*done, "with_clause"):
                for node in value if descriptor.is_repeated else (value,):
                    self._read(node, scope, ctes)

    def _read_with(self, statement: Any, parent: _Scope, ctes: _Ctes) -> _Ctes:
        if not statement.HasField("with_clause"):
            return ctes
        within = dict(ctes)
        clause = statement.with_clause
        if clause.recursive:
            # The columns of a CTE that is used before it is read are unknown.
            within |= {cte.common_table_expr.ctename: _Cte() for cte in clause.ctes}
        for item in clause.ctes:
            cte = item.common_table_expr
            given = _list_strings(cte.aliascolnames)
            own = within[cte.ctename] if clause.recursive else None
            if own is not None:
                own.columns = given
            names = self.read_select(cte.ctequery.select_stmt, parent, within, own)
            within[cte.ctename] = _Cte(_rename(names, given))
        return within

    def _list_outputs(self, target: Any, columns: Names, scope: _Scope) -> Names:
        fields = target.val.column_ref.fields
        if not fields or fields[-1].WhichOneof("node") != "a_star":
            return (target.name or name_output(target.val),)
        # PostgreSQL ignores a name after a star.
        if len(fields) == 1:
            return columns
        return scope.get(fields[0].string.sval, ())

    # -- FROM ----------------------------------------------------------------------------------

    def _read_source(self, node: Any, left: _Scope, ctes: _Ctes) -> tuple[dict[str, Names], Names]:
        """The sources that an item of FROM adds, and its columns as ``*`` lists them.

        ``left`` has the items before it, which only LATERAL and functions can see.
        """
        kind = node.WhichOneof("node")
        item = getattr(node, kind)
        if kind == "join_expr":
            return self._read_join(item, left, ctes)
        name = item.alias.aliasname
        given = _list_strings(item.alias.colnames)
        if kind == "range_subselect":
            columns = self._read_subselect(item, left, ctes)
        elif kind == "range_var":
            name = name or item.relname
            if item.schemaname:
                table = self._catalog.table(f"{item.schemaname}.{item.relname}")
                columns = tuple(column.name for column in table.columns) if table else ()
            else:
                columns = ctes[item.relname].columns if item.relname in ctes else ()
        elif kind == "range_function":
            self._read_rest(item, (), left, ctes)
            # Only the names that the text itself gives are certain.
            columns = given
        else:
            raise _Unexplained(kind)
        columns = _rename(columns, given)
        return ({name: columns} if name else {}), columns

    def _read_subselect(self, item: Any, left: _Scope, ctes: _Ctes) -> Names:
        statement = item.subquery.select_stmt
        if self._find_wrapped(statement):
            first = statement.larg if statement.op != _NO_SET_OPERATION else statement
            return tuple(
                target.res_target.name or name_output(target.res_target.val)
                for target in first.target_list
            )
        return self.read_select(statement, left if item.lateral else left.parents, ctes)

    def _read_join(self, join: Any, left: _Scope, ctes: _Ctes) -> tuple[dict[str, Names], Names]:
        sources, columns = self._read_source(join.larg, left, ctes)
        beside = left.parents.new_child(dict(left.maps[0]))
        _add(beside, sources)
        others, more = self._read_source(join.rarg, beside, ctes)
        both = left.parents.new_child(dict(sources))
        _add(both, others)
        self._read(join.quals, both, ctes)
        shared = _list_strings(join.using_clause)
        if join.is_natural:
            shared = tuple(name for name in columns if name in more)
        columns = (*shared, *(name for name in (*columns, *more) if name not in shared))
        if not join.HasField("alias"):
            return dict(both.maps[0]), columns
        columns = _rename(columns, _list_strings(join.alias.colnames))
        return {join.alias.aliasname: columns}, columns

    # -- expressions ---------------------------------------------------------------------------

    def _read(self, node: Any, scope: _Scope, ctes: _Ctes) -> None:
        kind = type(node).__name__
        if kind == "Node":
            inner = node.WhichOneof("node")
            if inner is not None:
                self._read(getattr(node, inner), scope, ctes)
        elif kind == "SelectStmt":
            self.read_select(node, scope, ctes)
        elif kind == "ColumnRef":
            self._check(node, scope)
        else:
            self._read_rest(node, (), scope, ctes)

    def _check(self, reference: Any, scope: _Scope) -> None:
        names = [part.string.sval for part in reference.fields]
        is_star = reference.fields[-1].WhichOneof("node") == "a_star"
        if len(names) == 1:
            return
        columns = scope.get(names[0])
        is_there = columns is not None and (is_star or names[1] in columns)
        if len(names) > 2 or not is_there:
            raise _Unexplained(".".join(name or "*" for name in names))


def _add(scope: _Scope, sources: dict[str, Names]) -> None:
    for name, columns in sources.items():
        known = scope.maps[0].get(name)
        # PostgreSQL refuses two sources with the same name; keep only their common columns.
        both = columns if known is None else tuple(column for column in columns if column in known)
        scope[name] = both


def _rename(columns: Names, given: Names) -> Names:
    return (*given, *columns[len(given) :])


def _list_strings(nodes: Iterable[Any]) -> Names:
    return tuple(node.string.sval for node in nodes)
