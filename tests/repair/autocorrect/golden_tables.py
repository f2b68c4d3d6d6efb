"""The visible that golden pairs are read with: the shop, and two keys between two tables."""

from __future__ import annotations

from dataclasses import replace

from nl2sql.types import Definition, JoinPlan, Plan, SchemaContext, ValueMatch
from repair.autocorrect.table_lookup import TableLookup
from tests.fakes import SHOP, build_context, build_key, build_table
from tests.retrieval.semantics.files import build_definition

STORES = build_table("stock.stores", "id integer", "city text", "cond text", key=("id",))
TRANSFERS = build_table(
    "stock.transfers",
    "id integer",
    "from_store integer",
    "to_store integer",
    "condition text",
    key=("id",),
)
DELIVERIES = build_table(
    "stock.deliveries", "id integer", "delivery_dt date", "due_dt date", "paid_dt date", key=("id",)
)
# Which lease of a store holds, the age of who signed it, and how long it takes to end it.
LEASES = build_table(
    "stock.leases", "id integer", "signer_age integer", "notice_hours integer", "leased_from date",
    "leased_to date", key=("id",),
)  # fmt: skip
SHOWS = build_table("stock.shows", "id integer", "release_year integer", "added_on date")
PRICES = build_table("stock.price_list", "UnitPrice numeric", "unit price numeric")
# All columns begin with the same letters, and no key is declared.
DEALS = build_table(
    "stock.deals", "sbdlid integer", "sbdlfirmid integer", "sbdlamount numeric", "sbdlkind text",
    key=("sbdlid",),
)  # fmt: skip
FIRMS = build_table(
    "stock.firms", "sbfirmid integer", "sbfirmtitle text", "sbfirmzone text", key=("sbfirmid",)
)
# A person has two names and two days, and the name of a department leaves out letters.
DRIVERS = build_table(
    "stock.drivers", "id integer", "title text", "first_name text", "last_name text",
    "depot_id integer", "hired_on date", "birth_date date", key=("id",),
)  # fmt: skip
DEPOTS = build_table("stock.depot", "id integer", "dean_name text", "dept_name text", key=("id",))
KEYS = (
    build_key("stock.transfers(from_store)", "stock.stores(id)"),
    build_key("stock.transfers(to_store)", "stock.stores(id)"),
    build_key("stock.drivers(depot_id)", "stock.depot(id)"),
)
CATALOG = replace(
    SHOP,
    tables=(
        *SHOP.tables,
        STORES,
        TRANSFERS,
        DELIVERIES,
        LEASES,
        SHOWS,
        PRICES,
        DEALS,
        FIRMS,
        DRIVERS,
        DEPOTS,
    ),
    foreign_keys=(*SHOP.foreign_keys, *KEYS),
)
VALUES = (
    ValueMatch("germany", "sales.customers", "country", "Germany", 1.0),
    ValueMatch("open", "sales.orders", "status", "Open", 1.0),
    ValueMatch("open", "sales.orders", "status", "OPEN", 1.0),
    ValueMatch("france", "sales.customers", "country", "France", 1.0),
)
PLAN = Plan(joins=JoinPlan(keys=(KEYS[1],)))


def build_golden_context(dialect: str = "postgres") -> SchemaContext:
    """All tables, with the values that a question about two countries and open orders finds."""
    return build_context(CATALOG, dialect=dialect, values=VALUES)


REVENUE = build_definition(
    measures={
        "revenue": {"expression": "sum(orders.total)", "filter": "orders.status <> 'cancelled'"}
    }
)
BASKET = build_definition(measures={"basket": "avg(orders.total)"})
COUNTRY = build_definition(dimensions={"home country": "customers.country"})
BIG = build_definition(filters={"big orders": "orders.total > 500 OR orders.status = 'open'"})
BUYERS = Definition(
    "measure",
    "buyers",
    "buyers",
    "count(*)",
    "",
    ("sales.customers",),
    (),
    "SELECT count(*) FROM sales.customers",
)
JOINED = JoinPlan(
    ("sales.orders", "sales.customers"),
    keys=(build_key("sales.orders(customer_id)", "sales.customers(id)"),),
    skeleton="FROM sales.orders JOIN sales.customers ON orders.customer_id = customers.id",
)


def build_defined_tables(question: str) -> TableLookup:
    """The visible with the definitions that a question names, and a plan that joins them."""
    named = tuple(
        each for each in (REVENUE, BASKET, BUYERS, COUNTRY, BIG) if each.phrase in question
    )
    context = replace(build_golden_context(), definitions=named)
    return TableLookup(context, Plan(joins=JOINED))


def build_visible_tables(tag: str = "") -> TableLookup:
    """The visible for a pair's tag: a dialect, or ``planned`` where the plan says which key."""
    if tag == "planned":
        return TableLookup(build_golden_context(), PLAN)
    return TableLookup(build_golden_context(tag or "postgres"))
