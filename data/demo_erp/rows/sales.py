"""Module sales: orders, shipments, returns, targets and the orders of the legacy system."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

from data.demo_erp.rows.base import START, TODAY, Row, TableRows, day_between, maybe, money, rows_of
from data.demo_erp.rows.crm import SALES_STAFF, SEGMENTS, Crm, Customer, region_codes
from data.demo_erp.rows.hr import Hr
from data.demo_erp.rows.products import Product, Products


class Order(NamedTuple):
    """A row of sales.orders."""

    order_id: int
    order_no: str
    customer_id: int
    contact_id: int | None
    bill_to_address_id: int
    ship_to_address_id: int
    sales_rep_id: int | None
    opportunity_id: int | None
    channel: str
    order_dt: date
    requested_dt: date | None
    status: str
    amt: Decimal


class OrderLine(NamedTuple):
    """A row of sales.order_lines."""

    order_id: int
    line_no: int
    product_id: int
    qty: int
    unit_price: Decimal
    discount_pct: Decimal
    amt: Decimal


class Shipment(NamedTuple):
    """A row of sales.shipments."""

    shipment_id: int
    order_id: int
    warehouse_id: int
    carrier_code: str
    shipped_dt: date
    delivered_dt: date | None
    freight_amt: Decimal
    status: str


class Return(NamedTuple):
    """A row of sales.returns."""

    return_id: int
    order_id: int
    line_no: int
    reason_code: str
    dt: date
    qty: int
    refund_amt: Decimal | None
    status: str


@dataclass(frozen=True, slots=True)
class Sales:
    """The records other modules refer to. ``shipped`` holds shipment, order, line and quantity."""

    orders: tuple[Order, ...]
    lines: dict[int, list[OrderLine]]
    shipments: tuple[Shipment, ...]
    shipped: tuple[tuple[int, int, int, int], ...]
    returns: tuple[Return, ...]


CARRIERS = (
    ("NVF", "Norvia Freight", "R"),
    ("ALP", "Alpentrans", "R"),
    ("SWP", "Swift Parcel", "P"),
    ("OCL", "Ocean Link Lines", "S"),
    ("AIRX", "Air Express Cargo", "A"),
)

REASONS = (
    ("DMG", "Damaged in transit", True),
    ("DEF", "Defective", True),
    ("WRG", "Wrong article delivered", True),
    ("LATE", "Delivered too late", True),
    ("UNS", "Not sold, returned by agreement", False),
    ("ERR", "Ordered by mistake", False),
)

SEASON = (0.55, 0.8, 1.35, 1.55, 1.5, 1.25, 1.0, 0.85, 0.8, 0.7, 0.75, 0.6)
"""Weight of each month: bicycles are bought in spring."""

ORDERS_A_DAY = {2022: 5.2, 2023: 4.9, 2024: 5.5, 2025: 5.4}

CATEGORY_WEIGHT = {"CTY": 5, "TRK": 6, "GRV": 4, "MTB": 4, "KID": 5, "ECT": 6, "ETR": 8, "EMT": 4}


def build_sales(rng: random.Random, hr: Hr, crm: Crm, catalogue: Products) -> Sales:
    """Return orders with their lines, deliveries and returns; ``sales_tables`` makes tables.

    No order is closed yet: an order closes when its invoice is paid, which finance decides.
    """
    orders: list[Order] = []
    lines: dict[int, list[OrderLine]] = {}
    codes = region_codes(hr)
    won = {o.customer_id: o.opportunity_id for o in crm.opportunities if o.stage == "WON"}
    popularity = {p.product_id: rng.paretovariate(1.4) for p in catalogue.products}
    never_sold = {p.product_id for p in catalogue.of_kind("RAW")[::9]}
    offers = _offers(catalogue, popularity, never_sold)
    day = START
    while day <= TODAY:
        busy = ORDERS_A_DAY[day.year] * SEASON[day.month - 1]
        busy *= 0.25 if day.weekday() >= 5 else 1.3
        for _ in range(int(busy + rng.random())):
            customer = rng.choices(crm.customers, crm.weights)[0]
            if not _may_order(customer, day):
                continue
            order_id = len(orders) + 1
            region = codes[customer.region_id]
            month = day.replace(day=1)
            items = _lines(rng, order_id, customer, offers[month])
            lines[order_id] = items
            channel = rng.choices(("WEB", "REP", "PHN", "EDI"), (38, 34, 18, 10))[0]
            staff = hr.staff(SALES_STAFF[region], day=day)
            addresses = crm.addresses[customer.customer_id]
            known = crm.contacts[customer.customer_id]
            orders.append(
                Order(
                    order_id,
                    f"SO-{day.year}-{order_id:05d}",
                    customer.customer_id,
                    rng.choice(known) if known and rng.random() < 0.7 else None,
                    addresses[0] if rng.random() < 0.85 else rng.choice(addresses),
                    addresses[-1] if rng.random() < 0.75 else rng.choice(addresses),
                    None if channel == "WEB" else staff[int(len(staff) * rng.random() ** 1.6)][0],
                    maybe(rng, 0.15, won.get(customer.customer_id)),
                    channel,
                    day,
                    maybe(rng, 0.6, day + timedelta(days=rng.randint(5, 45))),
                    _status(rng, day),
                    sum((item.amt for item in items), Decimal(0)),
                )
            )
        day += timedelta(days=1)
    shipments, shipped = _shipments(rng, hr, crm, catalogue, orders, lines)
    returns = _returns(rng, shipments, shipped, lines)
    return Sales(tuple(orders), lines, tuple(shipments), tuple(shipped), tuple(returns))


def sales_tables(
    rng: random.Random, hr: Hr, crm: Crm, sales: Sales, paid: set[int]
) -> tuple[TableRows, ...]:
    """Return the tables of the module; orders in ``paid`` that are shipped become closed."""
    orders = [
        o._replace(status="CLS") if o.order_id in paid and o.status == "SHP" else o
        for o in sales.orders
    ]
    lines = [line for items in sales.lines.values() for line in items]
    return (
        rows_of("sales.carriers", "carrier_code name mode", CARRIERS),
        TableRows("sales.orders", Order._fields, orders),
        TableRows("sales.order_lines", OrderLine._fields, lines),
        TableRows("sales.shipments", Shipment._fields, sales.shipments),
        rows_of("sales.shipment_lines", "shipment_id order_id line_no qty", sales.shipped),
        rows_of("sales.return_reasons", "reason_code description our_fault", REASONS),
        TableRows("sales.returns", Return._fields, sales.returns),
        _targets(rng, hr),
        _legacy(rng, hr, crm),
    )


Offer = tuple[list[Product], list[float]]


def _offers(
    catalogue: Products, popularity: dict[int, float], never_sold: set[int]
) -> dict[date, Offer]:
    """Return what is for sale in each month with the weight of each product."""
    offers: dict[date, Offer] = {}
    month = START
    while month <= TODAY:
        items = [
            p for p in catalogue.products if p.sold_on(month) and p.product_id not in never_sold
        ]
        weights = []
        for product in items:
            category = catalogue.category_code(product)
            base = {"FIN": 3.0, "MER": 3.2, "RAW": 0.7, "SUB": 0.25, "SRV": 0.8}[product.kind]
            if product.kind == "FIN":
                base *= CATEGORY_WEIGHT.get(category, 3) / 5
                if category.startswith("E"):
                    base *= 0.8 + 0.25 * (month.year - 2022)
            weights.append(base * popularity[product.product_id])
        offers[month] = (items, weights)
        month = (month + timedelta(days=32)).replace(day=1)
    return offers


def _may_order(customer: Customer, day: date) -> bool:
    if customer.created_dt > day or customer.status == "PRO":
        return False
    if customer.status == "INA" and day > date(2023, 6, 30):
        return False
    if customer.country_code in ("US", "CA") and day < date(2022, 7, 1):
        return False  # North America still used the legacy system
    return customer.status != "BLK" or day < date(2025, 1, 1)


def _lines(rng: random.Random, order_id: int, customer: Customer, offer: Offer) -> list[OrderLine]:
    products, weights = offer
    standard = next(s[2] for s in SEGMENTS if s[0] == customer.segment_code)
    bulk = {"DST": 2.4, "CHN": 1.9, "ONL": 1.4, "FLT": 1.8}.get(customer.segment_code, 1.0)
    lines: list[OrderLine] = []
    chosen: set[int] = set()
    for _ in range(rng.choices((1, 2, 3, 4, 5, 7), (22, 28, 22, 14, 9, 5))[0]):
        product = rng.choices(products, weights)[0]
        if product.product_id in chosen or product.list_price is None:
            continue
        chosen.add(product.product_id)
        low, high = {"FIN": (1, 6), "SRV": (1, 8), "SUB": (1, 4)}.get(product.kind, (2, 24))
        qty = max(1, int(rng.randint(low, high) * bulk))
        extra = rng.choice((0, 0, 0, 2, 5)) if qty > 4 else 0
        discount = standard + extra
        total = money(float(product.list_price) * qty * (1 - float(discount) / 100))
        lines.append(
            OrderLine(
                order_id,
                len(lines) + 1,
                product.product_id,
                qty,
                product.list_price,
                discount,
                total,
            )
        )
    return lines


def _status(rng: random.Random, day: date) -> str:
    age = (TODAY - day).days
    if age > 50:
        return rng.choices(("SHP", "CXL", "OPN"), (935, 60, 5))[0]
    if age > 20:
        return rng.choices(("SHP", "PSH", "CNF", "CXL"), (60, 18, 16, 6))[0]
    return rng.choices(("OPN", "CNF", "PSH", "SHP", "CXL"), (34, 38, 10, 14, 4))[0]


def _shipments(
    rng: random.Random,
    hr: Hr,
    crm: Crm,
    catalogue: Products,
    orders: Sequence[Order],
    lines: dict[int, list[OrderLine]],
) -> tuple[list[Shipment], list[tuple[int, int, int, int]]]:
    codes = region_codes(hr)
    shipments: list[Shipment] = []
    shipped: list[tuple[int, int, int, int]] = []
    for order in orders:
        if order.status not in ("SHP", "PSH"):
            continue
        region = codes[crm.customers[order.customer_id - 1].region_id]
        items = lines[order.order_id]
        parts = [items]
        if order.status == "PSH":
            parts = [items[: max(1, len(items) // 2)]]
        elif len(items) > 2 and rng.random() < 0.15:
            parts = [items[:2], items[2:]]
        left = day_between(rng, order.order_dt + timedelta(1), order.order_dt + timedelta(14))
        for part in parts:
            left = min(left, TODAY)
            far = region in ("LAM", "JPK", "ANZ")
            carrier = rng.choice(("OCL", "AIRX")) if far else rng.choice(("NVF", "ALP", "SWP"))
            days = rng.randint(18, 45) if carrier == "OCL" else rng.randint(1, 7)
            arrived = left + timedelta(days=days)
            status = "TRN" if arrived > TODAY else "LST" if rng.random() < 0.004 else "DLV"
            shipment_id = len(shipments) + 1
            shipments.append(
                Shipment(
                    shipment_id,
                    order.order_id,
                    catalogue.ships_to(region).warehouse_id,
                    carrier,
                    left,
                    arrived if status == "DLV" else None,
                    money(12 + float(sum(i.amt for i in part)) * rng.uniform(0.01, 0.03)),
                    status,
                )
            )
            for item in part:
                qty = item.qty
                if order.status == "PSH" and len(items) == 1:
                    qty = max(1, qty // 2)
                shipped.append((shipment_id, order.order_id, item.line_no, qty))
            left += timedelta(days=rng.randint(4, 20))
    return shipments, shipped


def _returns(
    rng: random.Random,
    shipments: Sequence[Shipment],
    shipped: Sequence[tuple[int, int, int, int]],
    lines: dict[int, list[OrderLine]],
) -> list[Return]:
    returns: list[Return] = []
    for shipment_id, order_id, line_no, qty in shipped:
        arrived = shipments[shipment_id - 1].delivered_dt
        if arrived is None or rng.random() > 0.024:
            continue
        announced = arrived + timedelta(days=rng.randint(1, 60))
        if announced > TODAY:
            continue
        back = rng.randint(1, max(1, qty // 2))
        fresh = (TODAY - announced).days < 25
        status = rng.choice(("ANN", "RCV")) if fresh else rng.choices(("RFD", "REJ"), (85, 15))[0]
        line = lines[order_id][line_no - 1]
        refund = {"RFD": money(float(line.amt) * back / line.qty), "REJ": money(0)}.get(status)
        reason = rng.choices([r[0] for r in REASONS], (22, 30, 9, 8, 19, 12))[0]
        returns.append(
            Return(len(returns) + 1, order_id, line_no, reason, announced, back, refund, status)
        )
    return returns


def _targets(rng: random.Random, hr: Hr) -> TableRows:
    rows: list[Row] = []
    for employee in hr.staff(*SALES_STAFF.values()):
        level = rng.uniform(90000, 210000)
        for year in range(2022, 2026):
            for quarter in range(1, 5):
                first = date(year, quarter * 3 - 2, 1)
                if first > TODAY or not employee.works_on(first):
                    continue
                weight = sum(SEASON[quarter * 3 - 3 : quarter * 3]) / 3
                target = money(round(level * weight * 1.05 ** (year - 2022), -3))
                rows.append((employee.employee_id, year, quarter, target))
    return rows_of("sales.sales_targets", "employee_id cal_year quarter target_amt", rows)


def _legacy(rng: random.Random, hr: Hr, crm: Crm) -> TableRows:
    codes = region_codes(hr)
    old = [c for c in crm.customers if c.legacy_no is not None]
    weights = [crm.weights[c.customer_id - 1] + 0.1 for c in old]
    america = [c for c in old if codes[c.region_id] == "NAM"]
    america_weights = [crm.weights[c.customer_id - 1] + 0.1 for c in america]
    rows: list[Row] = []
    for number in range(2800):
        if number < 2600:
            customer = rng.choices(old, weights)[0]
            day = day_between(rng, date(2019, 1, 7), date(2021, 12, 30))
        else:  # North America moved to the new system half a year later
            customer = rng.choices(america, america_weights)[0]
            day = day_between(rng, date(2022, 1, 3), date(2022, 6, 30))
        kind = rng.choices("SCR", (90, 6, 4))[0]
        total = money(rng.lognormvariate(8.0, 0.9) * (-0.2 if kind == "C" else 1))
        stat = rng.choices("159", (1, 92, 7))[0]
        initials = rng.choice("ABDGHKLMPRSTW") + rng.choice("BDFGHKLMNRSTZ")
        rows.append(
            (
                700001 + number,
                maybe(rng, 0.97, customer.legacy_no),
                day,
                total,
                kind,
                stat,
                maybe(rng, 0.8, initials),
                date(2022, 7, 4) if day.year == 2022 else date(2022, 1, 8),
            )
        )
    return rows_of("sales.order_hdr", "ord_no cust_no dt amt type stat sls_init imp_dt", rows)
