"""Module procurement: suppliers, requisitions, purchase orders, receipts; and supplier bills."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

from data.demo_erp.rows.base import (
    START,
    TODAY,
    Row,
    TableRows,
    day_between,
    maybe,
    money,
    month_starts,
    rows_of,
)
from data.demo_erp.rows.finance import NET_DAYS, Reference
from data.demo_erp.rows.hr import Hr
from data.demo_erp.rows.products import Product, Products


class Supplier(NamedTuple):
    """A row of procurement.suppliers."""

    supplier_id: int
    name: str
    parent_supplier_id: int | None
    country_code: str
    currency_code: str
    term_code: str
    buyer_id: int | None
    grade: str | None
    since_dt: date
    blocked: bool


class PurchaseOrder(NamedTuple):
    """A row of procurement.purchase_orders."""

    po_id: int
    po_no: str
    supplier_id: int
    requisition_id: int | None
    buyer_id: int
    warehouse_id: int
    order_dt: date
    expected_dt: date
    status: str
    currency_code: str
    amt: Decimal


class Bill(NamedTuple):
    """A row of finance.supplier_bills."""

    bill_id: int
    bill_ref: str
    supplier_id: int
    po_id: int | None
    cost_center_id: int | None
    dt: date
    due_dt: date
    amt: Decimal
    paid_dt: date | None
    status: str


@dataclass(frozen=True, slots=True)
class Procurement:
    """The tables and the records other modules refer to.

    ``received`` holds product, warehouse, day, units accepted and the purchase order's number.
    """

    tables: tuple[TableRows, ...]
    suppliers: tuple[Supplier, ...]
    bills: tuple[Bill, ...]
    received: tuple[tuple[int, int, date, int, str], ...]


STEMS = (
    "Alto Brenta Corva Dolmar Estrel Ferron Galvan Helior Inmar Jorvik Kestra Lumeo Mistral "
    "Norden Orvis Palta Quarzo Ravel Sirius Tessin Ulmen Verdo Wallis Xanten Yarrow Zenta"
)
TRADES = "Metals|Components|Drivetrain|Wheels|Textiles|Electronics|Packaging|Energy|Coatings"
GROUPS = ("Helior Group", "Tessin Holding", "Jorvik Industries")
SOURCES = ("DE", "DE", "DE", "IT", "CZ", "PL", "TW", "TW", "CN", "JP", "US", "GB", "SE", "CH")
CURRENCY = {
    "IT": "EUR",
    "DE": "EUR",
    "CZ": "CZK",
    "PL": "PLN",
    "TW": "TWD",
    "CN": "USD",
    "JP": "JPY",
    "US": "USD",
    "GB": "GBP",
    "SE": "SEK",
    "CH": "CHF",
}
PURPOSES = (
    "Replacement laptops|Welding gas|Office chairs|Trade-fair stand|Safety shoes|Test equipment|"
    "Forklift rental|Cleaning supplies|Software licences|Spare parts|Training course"
)


def build_procurement(
    rng: random.Random, hr: Hr, catalogue: Products, reference: Reference
) -> Procurement:
    """Return the module procurement and the bills of suppliers."""
    suppliers = _suppliers(rng, hr)
    offers = _supplier_products(rng, suppliers, catalogue)
    requisitions = _requisitions(rng, hr)
    orders: list[PurchaseOrder] = []
    lines: list[Row] = []
    receipts: list[Row] = []
    received: list[tuple[int, int, date, int, str]] = []
    by_supplier: dict[int, list[tuple[int, float, int]]] = defaultdict(list)
    for row in offers:
        by_supplier[int(str(row[0]))].append((int(str(row[1])), float(str(row[3])), row[4]))
    active = [s for s in suppliers if by_supplier[s.supplier_id] and not s.blocked]
    weights = [rng.paretovariate(1.3) for _ in active]
    ordered = [r for r in requisitions if r[6] == "ORD"]
    days = sorted(day_between(rng, START, TODAY) for _ in range(900))
    storekeepers = hr.staff("LOG")
    for po_id, day in enumerate(days, 1):
        supplier = rng.choices(active, weights)[0]
        items = by_supplier[supplier.supplier_id]
        chosen = rng.sample(items, min(len(items), rng.choice((1, 2, 2, 3, 4))))
        lead = max(item[2] for item in chosen)
        expected = day + timedelta(days=lead)
        late = rng.choice((-3, -1, 0, 0, 1, 3, 9, 21))
        arrival = expected + timedelta(days=late)
        age = (TODAY - arrival).days
        status = "OPN" if age < 0 else "CLS" if age > 45 else rng.choice(("RCV", "PRC"))
        if rng.random() < 0.04:
            status = "CXL"
        number = f"PO-{day.year}-{po_id:04d}"
        warehouse = catalogue.warehouses[rng.choice((0, 1, 1, 1))]
        total = Decimal(0)
        for line_no, (product_id, price, _) in enumerate(chosen, 1):
            qty = rng.choice((20, 50, 50, 100, 100, 200, 250, 400))
            unit = Decimal(str(round(price * rng.uniform(0.97, 1.03), 4)))
            amount = money(float(unit) * qty)
            total += amount
            lines.append((po_id, line_no, product_id, qty, unit, amount))
            if status in ("OPN", "CXL") or (status == "PRC" and line_no > 1):
                continue
            whole = status != "PRC"
            halves = [qty] if whole and rng.random() < 0.88 else [qty // 2]
            if whole and len(halves) == 1 and halves[0] != qty:
                halves.append(qty - halves[0])
            for part, got in enumerate(halves):
                came = min(arrival + timedelta(days=part * 9), TODAY)
                bad = rng.randint(1, max(1, got // 12)) if rng.random() < 0.14 else 0
                keeper = maybe(rng, 0.93, rng.choice(storekeepers).employee_id)
                receipts.append((len(receipts) + 1, po_id, line_no, came, got, bad, keeper))
                received.append((product_id, warehouse.warehouse_id, came, got - bad, number))
        request = None
        if ordered and rng.random() < 0.12 and ordered[0][3] <= day:
            request = ordered.pop(0)[0]
        buyer = rng.choice(hr.staff("PUR", day=day)).employee_id
        orders.append(
            PurchaseOrder(
                po_id,
                number,
                supplier.supplier_id,
                request,
                supplier.buyer_id if supplier.buyer_id and rng.random() < 0.6 else buyer,
                warehouse.warehouse_id,
                day,
                expected,
                status,
                supplier.currency_code,
                total,
            )
        )
    bills = _bills(rng, hr, reference, suppliers, orders)
    tables = (
        TableRows("procurement.suppliers", Supplier._fields, suppliers),
        _contracts(rng, hr, suppliers),
        rows_of(
            "procurement.supplier_products",
            "supplier_id product_id price lead_days min_qty preferred",
            [(r[0], r[1], r[3], r[4], r[5], r[6]) for r in offers],
        ),
        rows_of(
            "procurement.purchase_requisitions",
            "requisition_id requested_by department_id dt purpose est_amt status decided_by",
            requisitions,
        ),
        TableRows("procurement.purchase_orders", PurchaseOrder._fields, orders),
        rows_of(
            "procurement.purchase_order_lines",
            "po_id line_no product_id qty unit_price amt",
            lines,
        ),
        rows_of(
            "procurement.goods_receipts",
            "receipt_id po_id line_no received_dt qty_received qty_rejected received_by",
            receipts,
        ),
        TableRows("finance.supplier_bills", Bill._fields, bills),
    )
    return Procurement(tables, tuple(suppliers), tuple(bills), tuple(received))


def _suppliers(rng: random.Random, hr: Hr) -> list[Supplier]:
    buyers = hr.staff("PUR", day=TODAY)
    names = list(GROUPS)
    while len(names) < 88:
        name = f"{rng.choice(STEMS.split())} {rng.choice(TRADES.split('|'))}"
        if name not in names:
            names.append(name)
    suppliers: list[Supplier] = []
    for key, name in enumerate(names, 1):
        country = rng.choice(SOURCES)
        parent = GROUPS.index(g) + 1 if (g := f"{name.split()[0]} Group") in GROUPS else None
        if parent == key or key <= len(GROUPS):
            parent = None
        elif parent is None and rng.random() < 0.1:
            parent = rng.randint(1, len(GROUPS))
        grade = rng.choices(("A", "B", "C", "D", None), (25, 40, 15, 6, 14))[0]
        suppliers.append(
            Supplier(
                key,
                f"{name} {'GmbH' if country == 'DE' else 'Ltd'}" if key > 3 else name,
                parent,
                country,
                CURRENCY[country],
                rng.choice(("N30", "N30", "N60", "D10", "N14")),
                maybe(rng, 0.92, rng.choice(buyers).employee_id),
                grade,
                day_between(rng, date(2008, 5, 1), date(2024, 8, 1)),
                grade == "D" and rng.random() < 0.6,
            )
        )
    return suppliers


Offer = tuple[int, int, str, Decimal, int, int, bool]


def _supplier_products(
    rng: random.Random, suppliers: Sequence[Supplier], catalogue: Products
) -> list[Offer]:
    """Return who offers what, in the supplier's currency; a tenth of them offer nothing."""
    sellers = [s for s in suppliers[3:] if rng.random() > 0.1]
    level = {
        "EUR": 1.0,
        "USD": 0.91,
        "GBP": 1.17,
        "SEK": 0.089,
        "CHF": 1.03,
        "PLN": 0.224,
        "CZK": 0.0405,
        "JPY": 0.0066,
        "TWD": 0.029,
    }
    offers: list[Offer] = []
    bought: list[Product] = catalogue.of_kind("RAW", "MER")
    for product in bought:
        chosen = rng.sample(sellers, rng.choice((1, 2, 2, 3, 4)))
        for rank, supplier in enumerate(chosen):
            price = float(product.std_cost) * rng.uniform(0.88, 1.12)
            local = Decimal(str(round(price / level[supplier.currency_code], 4)))
            far = supplier.country_code in ("TW", "CN", "JP", "US")
            lead = rng.randint(35, 90) if far else rng.randint(5, 28)
            offers.append(
                (
                    supplier.supplier_id,
                    product.product_id,
                    supplier.currency_code,
                    local,
                    lead,
                    rng.choice((1, 10, 20, 50, 100)),
                    rank == 0,
                )
            )
    return offers


Requisition = tuple[int, int, int, date, str, Decimal, str, int | None]


def _requisitions(rng: random.Random, hr: Hr) -> list[Requisition]:
    days = sorted(day_between(rng, START, TODAY) for _ in range(340))
    found: list[Requisition] = []
    for key, day in enumerate(days, 1):
        person = rng.choice([e for e in hr.employees if e.works_on(day)])
        status = rng.choices(("ORD", "APR", "REJ"), (70, 14, 16))[0]
        if (TODAY - day).days < 60:
            status = rng.choice(("DRF", "SUB", "SUB", "APR", "ORD"))
        found.append(
            (
                key,
                person.employee_id,
                person.department_id,
                day,
                rng.choice(PURPOSES.split("|")),
                money(rng.lognormvariate(7.2, 1.0)),
                status,
                None if status in ("DRF", "SUB") else person.manager_id,
            )
        )
    return found


def _contracts(rng: random.Random, hr: Hr, suppliers: Sequence[Supplier]) -> TableRows:
    rows: list[Row] = []
    for supplier in suppliers:
        if supplier.grade not in ("A", "B") or rng.random() < 0.3:
            continue
        first = day_between(rng, date(2020, 1, 1), date(2024, 12, 1)).replace(day=1)
        last = first + timedelta(days=365 * rng.choice((1, 2, 3)) - 1)
        volume = maybe(rng, 0.7, money(rng.randint(4, 120) * 10000))
        signer = rng.choice(hr.staff("PUR", day=first)).employee_id
        rebate = Decimal(rng.choice((0, 1, 2, 3))) + Decimal("0.50")
        end = maybe(rng, 0.85, last)
        rows.append((len(rows) + 1, supplier.supplier_id, signer, first, end, volume, rebate))
    columns = "contract_id supplier_id signed_by start_dt end_dt volume_amt rebate_pct"
    return rows_of("procurement.supplier_contracts", columns, rows)


def _bills(
    rng: random.Random,
    hr: Hr,
    reference: Reference,
    suppliers: Sequence[Supplier],
    orders: Sequence[PurchaseOrder],
) -> list[Bill]:
    drafts: list[tuple[date, Supplier, int | None, int | None, Decimal]] = []
    for order in orders:
        if order.status == "CLS":
            rate = reference.rates[order.currency_code, order.order_dt.replace(day=1)]
            day = min(TODAY, order.expected_dt + timedelta(days=rng.randint(3, 40)))
            supplier = suppliers[order.supplier_id - 1]
            drafts.append((day, supplier, order.po_id, None, money(float(order.amt * rate))))
    landlords = [s for s in suppliers if "Energy" in s.name] or list(suppliers[:2])
    staffed = {d.department_id for d in hr.departments if hr.by_department[d.code]}
    payers = [c for c in reference.cost_centers if c.department_id in staffed][::4]
    for month in month_starts(START, TODAY):
        for center in payers:
            day = month + timedelta(days=rng.randint(1, 20))
            amount = money(rng.uniform(900, 9000))
            drafts.append((day, rng.choice(landlords), None, center.cost_center_id, amount))
    drafts.sort(key=lambda d: (d[0], d[1].supplier_id, d[2] or 0, d[3] or 0))
    bills: list[Bill] = []
    for day, supplier, po_id, center_id, amount in drafts:
        due = day + timedelta(days=NET_DAYS[supplier.term_code])
        paid: date | None = due + timedelta(days=rng.randint(-6, 4))
        status = "PD"
        if paid is None or paid > TODAY or rng.random() < 0.012:
            recent = (TODAY - day).days < 75
            status, paid = rng.choice(("RCV", "APP")) if recent else "DSP", None
        bills.append(
            Bill(
                len(bills) + 1,
                f"{supplier.name[:3].upper()}{rng.randint(1000, 9999)}",
                supplier.supplier_id,
                po_id,
                center_id,
                day,
                due,
                amount,
                max(day, paid) if paid else None,
                status,
            )
        )
    return bills
