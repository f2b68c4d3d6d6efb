"""Which columns of wide tables are left."""

from __future__ import annotations

from dataclasses import replace

from nl2sql.catalog import Catalog, Table
from nl2sql.types import RetrievedTable, SchemaContext, SchemaLink, ValueMatch
from retrieval.linking.column_pruner import prune_columns
from tests.fakes import build_context, build_key, build_table

WIDE = build_table(
    "s.wide",
    *(f"c{number} integer" for number in range(40)),
    "owner_id integer",
    "title text",
    "paid_on date",
    key=("c39",),
)
OWNERS = build_table("s.owners", "id integer", "c20 text", key=("id",))
CATALOG = Catalog(
    "big", (WIDE, OWNERS), (build_key("s.wide(owner_id)", "s.owners(id)"),), search_path=("s",)
)


def prune(*links: SchemaLink, context: SchemaContext | None = None) -> dict[str, tuple[str, ...]]:
    return dict(prune_columns(context or build_context(CATALOG), links))


def test_keys_the_first_few_and_labels_are_left() -> None:
    left = prune()["s.wide"]
    assert {"c39", "owner_id", "title", "paid_on"} <= set(left)
    assert left[:5] == ("c0", "c1", "c2", "c3", "c4")
    assert len(left) <= 12


def test_short_tables_keep_fewer_columns_and_the_last_ones_fewest() -> None:
    logs = [
        build_table(f"s.log{at:02}", "note text", *(f"c{number} integer" for number in range(40)))
        for at in range(13)
    ]
    hits = tuple(RetrievedTable(log, 0.0, short=True) for log in logs)
    context = replace(build_context(CATALOG), tables=hits, foreign_keys=())
    left = prune(context=context)
    assert left["s.log00"] == tuple(f"c{number}" for number in range(10))
    assert left["s.log12"] == tuple(f"c{number}" for number in range(6))


def test_of_a_medium_database_only_short_tables_are_pruned() -> None:
    context = build_context(CATALOG)
    first, *rest = context.tables
    hits = (first, *(replace(hit, short=True) for hit in rest))
    short = replace(context, tables=hits)
    assert dict(prune_columns(context, (), all_tables=False)) == {}
    pruned = dict(prune_columns(short, (), all_tables=False))
    assert pruned.keys() <= {hit.table.qualified for hit in rest}


def test_linked_columns_stay_and_so_do_columns_of_the_same_name_elsewhere() -> None:
    assert "c30" in prune(SchemaLink("x", "s.wide", "c30", 0.5))["s.wide"]
    assert "c20" in prune(SchemaLink("x", "s.owners", "c20", 0.5))["s.wide"]


def test_what_search_and_values_found_stays() -> None:
    context = build_context(CATALOG, values=(ValueMatch("x", "s.wide", "c31", "X", 1.0),))
    hits = tuple(
        replace(hit, columns=("c32",)) if hit.table is WIDE else hit for hit in context.tables
    )
    assert {"c31", "c32"} <= set(prune(context=replace(context, tables=hits))["s.wide"])


def test_nothing_is_added_that_the_table_does_not_show() -> None:
    hidden = Table("s", "wide", WIDE.columns[:12], ())
    context = SchemaContext(
        (RetrievedTable(hidden, 1.0, columns=("c31", "secret")),),
        CATALOG.foreign_keys,
        ("wide",),
        values=(ValueMatch("x", "s.wide", "c35", "X", 1.0),),
    )
    left = prune(SchemaLink("x", "s.wide", "title", 1.0), context=context).get("s.wide", ())
    assert set(left) <= {column.name for column in hidden.columns}
