"""The schema of all fakes, six tables of a shop, and builders of others."""

from __future__ import annotations

from nl2sql.catalog import Catalog, Column, ForeignKey, Table


def build_table(
    name: str, *columns: str, key: tuple[str, ...] = (), comment: str = "", kind: str = "table"
) -> Table:
    """A table from its qualified name and columns such as ``"id integer"``.

    >>> build_table("s.t", "id integer -- the number", key=("id",)).column("id").comment
    'the number'
    """
    schema, _, short = name.partition(".")
    return Table(
        schema=schema,
        name=short,
        columns=tuple(_build_column(text, key) for text in columns),
        primary_key=key,
        comment=comment,
        kind=kind,
    )


def _build_column(text: str, key: tuple[str, ...]) -> Column:
    declaration, _, comment = text.partition(" -- ")
    name, _, kind = declaration.rpartition(" ")
    return Column(name, kind, nullable=name not in key, comment=comment)


def build_key(source: str, target: str) -> ForeignKey:
    """A foreign key from ``"s.t(a, b)"`` to ``"s.u(c, d)"``, named ``t_a_b_fkey``."""
    table, columns = _split_reference(source)
    other, other_columns = _split_reference(target)
    name = "_".join((table.split(".")[-1], *columns, "fkey"))
    return ForeignKey(name, table, columns, other, other_columns)


def _split_reference(text: str) -> tuple[str, tuple[str, ...]]:
    table, _, columns = text.rstrip(")").partition("(")
    return table, tuple(column.strip() for column in columns.split(","))


CUSTOMERS = build_table(
    "sales.customers",
    "id integer",
    "name text",
    "country text -- ISO 3166 code of the country",
    "Loyalty Tier text",
    key=("id",),
    comment="People and companies who buy",
)
EMPLOYEES = build_table(
    "sales.employees", "id integer", "name text", "manager_id integer", key=("id",)
)
ORDERS = build_table(
    "sales.orders",
    "id integer",
    "customer_id integer",
    "seller_id integer -- employee who sold it",
    "placed_at timestamp -- when the order came in",
    "status text -- open, shipped or cancelled",
    "total numeric(12,2) -- in euros",
    key=("id",),
    comment="What customers ordered",
)
ORDER_LINES = build_table(
    "sales.order_lines",
    "order_id integer",
    "line_no integer",
    "product_id integer",
    "quantity integer",
    "price numeric(12,2)",
    key=("order_id", "line_no"),
)
PRODUCTS = build_table(
    "stock.products",
    "id integer",
    "name text",
    "category text",
    "price numeric(12,2)",
    "tags text[]",
    key=("id",),
    comment="What can be bought",
)
RETURNS = build_table(
    "stock.returns",
    "id integer",
    "order_id integer",
    "line_no integer",
    "reason text",
    key=("id",),
)

SHOP = Catalog(
    database="shop",
    tables=(CUSTOMERS, EMPLOYEES, ORDER_LINES, ORDERS, PRODUCTS, RETURNS),
    foreign_keys=(
        build_key("sales.orders(customer_id)", "sales.customers(id)"),
        build_key("sales.orders(seller_id)", "sales.employees(id)"),
        build_key("sales.employees(manager_id)", "sales.employees(id)"),
        build_key("sales.order_lines(order_id)", "sales.orders(id)"),
        build_key("sales.order_lines(product_id)", "stock.products(id)"),
        build_key("stock.returns(order_id, line_no)", "sales.order_lines(order_id, line_no)"),
    ),
    search_path=("sales", "stock"),
)
"""Six tables in two schemas: a composite key, a key across schemas, a key to its own table."""
