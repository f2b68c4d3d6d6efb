"""Generates the rows of all tables of the demo ERP from a seed.

The same seed gives the same rows. Every module has its own random source, named after the module,
so that a change in one module does not change the rows of the others. Writes to no database.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from data.demo_erp.rows.assets import build_assets
from data.demo_erp.rows.base import TODAY, TableRows
from data.demo_erp.rows.crm import build_crm
from data.demo_erp.rows.finance import build_invoices, build_reference
from data.demo_erp.rows.hr import build_hr
from data.demo_erp.rows.ledger import build_ledger
from data.demo_erp.rows.manufacturing import build_manufacturing
from data.demo_erp.rows.procurement import build_procurement
from data.demo_erp.rows.products import build_products
from data.demo_erp.rows.projects import build_projects
from data.demo_erp.rows.sales import build_sales, sales_tables
from data.demo_erp.rows.stock import build_stock
from data.demo_erp.rows.support import build_support

__all__ = ["TODAY", "TableRows", "generate_tables"]


def generate_tables(seed: int = 7) -> Iterator[TableRows]:
    """Yield every table once, each after those its foreign keys point to.

    In a table that refers to itself, parents come first, so that COPY in this order satisfies every
    foreign key.
    """

    def source(module: str) -> random.Random:
        return random.Random(f"{seed}:{module}")

    hr = build_hr(source("hr"))
    reference = build_reference(source("finance"), hr)
    catalogue = build_products(source("products"), hr)
    crm = build_crm(source("crm"), hr)
    sales = build_sales(source("sales"), hr, crm, catalogue)
    receivables, invoices, paid = build_invoices(source("invoices"), crm, sales)
    procurement = build_procurement(source("procurement"), hr, catalogue, reference)
    manufacturing = build_manufacturing(source("manufacturing"), hr, catalogue, sales)
    assets = build_assets(source("assets"), hr, procurement, manufacturing)
    yield from hr.tables
    yield from reference.tables
    yield from catalogue.tables
    yield from crm.tables
    yield from sales_tables(source("targets"), hr, crm, sales, paid)
    yield from receivables
    yield from procurement.tables
    yield from manufacturing.tables
    yield from build_stock(source("stock"), hr, catalogue, sales, procurement, manufacturing)
    yield from build_projects(source("projects"), hr, crm, reference)
    yield from assets.tables
    yield from build_support(source("support"), hr, crm, catalogue, sales)
    yield from build_ledger(source("ledger"), hr, reference, invoices, procurement, assets)
