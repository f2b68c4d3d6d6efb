"""What goes first when a schema does not fit, and what never goes."""

from __future__ import annotations

from dataclasses import replace

from nl2sql.catalog import Catalog
from nl2sql.schema_text.fitting import SchemaSizes, choose_left_out, rank_droppable
from nl2sql.schema_text.view import SchemaView
from nl2sql.types import Definition, Plan, RetrievedTable, SchemaLink, SchemaLinks, ValueMatch
from tests.fakes import build_context, build_key, build_table

WIDE = build_table("s.wide", *(f"c{number} integer" for number in range(1, 41)), key=("c30",))
SMALL = build_table("s.small", "id integer", "name text", "note text", key=("id",))
CATALOG = Catalog("shop", (WIDE, SMALL), (build_key("s.wide(c20)", "s.small(id)"),), ("s",))


def test_the_last_columns_of_the_last_tables_go_first() -> None:
    context = build_context(CATALOG, ("s.small", "s.wide"))
    order = rank_droppable(SchemaView(context), Plan())
    assert order[:2] == [("s.wide", "c40"), ("s.wide", "c39")]
    assert order[-3:] == [("s.wide", "c2"), ("s.small", "note"), ("s.small", "name")]


def test_keys_links_values_and_found_columns_never_go() -> None:
    context = build_context(
        CATALOG, ("s.wide", "s.small"), values=(ValueMatch("x", "s.wide", "c12", "X", 1.0),)
    )
    found = RetrievedTable(WIDE, 1.0, columns=("c13",))
    context = replace(context, tables=(found, *context.tables[1:]))
    plan = Plan(SchemaLinks((SchemaLink("eleven", "s.wide", "c11", 1.0),)))
    order = rank_droppable(SchemaView(context), plan)
    kept = {f"c{number}" for number in range(1, 41)} - {name for _, name in order}
    # The first, the link, the value, what was found, the foreign key, the primary key.
    assert kept == {"c1", "c11", "c12", "c13", "c20", "c30"}
    assert ("s.small", "id") not in order


def test_columns_that_the_plan_pruned_are_not_left_out_again() -> None:
    context = build_context(CATALOG, ("s.wide",))
    view = SchemaView(context, {"s.wide": ("c1", "c2", "c30")})
    assert rank_droppable(view, Plan()) == [("s.wide", "c2")]


SIZES = SchemaSizes(
    columns={(table, name): 10 for table in ("a", "b", "c") for name in ("x", "y", "z")},
    frames={"a": 5, "b": 5, "c": 5},
    fixed=1,
)
DROPPABLE = [(table, name) for name in ("z", "y") for table in ("c", "b", "a")]


def left_out(room: int) -> tuple[str, ...]:
    return choose_left_out(SIZES, room, DROPPABLE, ["a", "b", "c"])


def test_columns_go_one_by_one_and_no_more_than_needed() -> None:
    assert left_out(SIZES.total - 1) == ("c.z",)
    assert left_out(SIZES.total - 10) == ("c.z",)
    assert left_out(SIZES.total - 11) == ("c.z", "b.z")


def test_a_table_goes_when_no_column_is_left_and_gives_its_room_to_better_columns() -> None:
    # Without its droppable columns the schema has 46: the last table goes, and a.y comes back.
    assert left_out(45) == ("b.z", "a.z", "b.y", "c")
    assert left_out(46) == ("c.z", "b.z", "a.z", "c.y", "b.y", "a.y")


def test_the_best_table_stays_with_its_keys_whatever_the_room() -> None:
    assert left_out(0) == ("a.z", "a.y", "c", "b")
    assert left_out(-100) == ("a.z", "a.y", "c", "b")


def test_what_is_left_is_within_the_room() -> None:
    for room in range(16, SIZES.total):
        gone = set(left_out(room))
        tokens = SIZES.fixed + sum(
            SIZES.frames[table]
            + sum(
                size
                for (owner, name), size in SIZES.columns.items()
                if owner == table and f"{owner}.{name}" not in gone
            )
            for table in SIZES.frames
            if table not in gone
        )
        assert tokens <= room


def test_a_required_table_never_goes() -> None:
    sizes = SchemaSizes({}, frames={"s.a": 5, "s.b": 5, "s.c": 5})
    tables = ["s.a", "s.b", "s.c"]
    assert choose_left_out(sizes, 10, [], tables) == ("s.c",)
    assert choose_left_out(sizes, 10, [], tables, ["s.c"]) == ("s.b",)


def test_columns_of_definitions_never_go() -> None:
    made = Definition("measure", "m", "m", "", "", ("s.wide",), ("s.wide.c33",), "")
    context = build_context(CATALOG, ("s.small", "s.wide"), definitions=(made,))
    assert ("s.wide", "c33") not in rank_droppable(SchemaView(context), Plan())
