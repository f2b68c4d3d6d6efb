"""Module inventory, second half: stock levels and the movements they are the sum of.

Movements begin in July 2024 with an opening balance; older ones count as archived. What shipments
take out and no receipt covers is replenished, so that stock is never negative.
"""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import date, datetime, timedelta

from data.demo_erp.rows.base import TODAY, Row, TableRows, day_between, maybe, rows_of, working_hour
from data.demo_erp.rows.hr import Hr
from data.demo_erp.rows.manufacturing import Manufacturing
from data.demo_erp.rows.procurement import Procurement
from data.demo_erp.rows.products import Products
from data.demo_erp.rows.sales import Sales

OPENING = date(2024, 7, 1)

Booking = tuple[datetime, str, int, str | None]


def build_stock(
    rng: random.Random,
    hr: Hr,
    catalogue: Products,
    sales: Sales,
    procurement: Procurement,
    manufacturing: Manufacturing,
) -> tuple[TableRows, ...]:
    """Return stock levels and stock movements."""
    booked = _bookings(rng, catalogue, sales, procurement, manufacturing)
    kinds = {p.product_id: p.kind for p in catalogue.products}
    bins: dict[int, list[str]] = defaultdict(list)
    for warehouse_id, code in catalogue.bins:
        bins[warehouse_id].append(code)
    keepers = {
        w.warehouse_id: hr.staff(
            next(d.code for d in hr.departments if d.department_id == w.department_id), day=TODAY
        )
        for w in catalogue.warehouses
    }
    levels: list[Row] = []
    movements: list[Row] = []
    for (warehouse_id, product_id), bookings in sorted(booked.items()):
        outgoing = -sum(b[2] for b in bookings if b[2] < 0)
        batch = max(10, outgoing // 5)
        balance = rng.randint(0, batch * 2) + 5
        source = "PR" if kinds[product_id] in ("FIN", "SUB") else "GR"
        history: list[Booking] = [(datetime(2024, 7, 1, 6), "OB", balance, None)]
        for booking in sorted(bookings, key=lambda b: (b[0], b[1], b[2])):
            moment, _, qty, _ = booking
            if balance + qty < 0:
                refill = batch - (balance + qty)
                before = max(datetime(2024, 7, 1, 7), moment - timedelta(hours=2))
                history.append((before, source, refill, None))
                balance += refill
            balance += qty
            history.append(booking)
        home = rng.choice(bins[warehouse_id])
        for moment, kind, qty, ref in history:
            hand = rng.choice(keepers[warehouse_id]).employee_id
            movements.append(
                (
                    len(movements) + 1,
                    product_id,
                    warehouse_id,
                    maybe(rng, 0.9, home),
                    kind,
                    moment,
                    qty,
                    None if kind == "OB" else maybe(rng, 0.8, hand),
                    ref,
                )
            )
        planned = rng.random() < 0.8
        counted = maybe(rng, 0.85, day_between(rng, date(2024, 8, 1), date(2025, 6, 27)))
        reorder = max(4, batch // 2) if planned else None
        reserved = rng.randint(0, balance // 3) if balance > 3 else 0
        levels.append((warehouse_id, product_id, balance, reserved, reorder, counted))
    return (
        rows_of(
            "inventory.stock_levels",
            "warehouse_id product_id on_hand_qty reserved_qty reorder_point last_counted_dt",
            levels,
        ),
        rows_of(
            "inventory.stock_movements",
            "movement_id product_id warehouse_id bin_code mv_type moved_at qty moved_by ref_no",
            movements,
        ),
    )


def _bookings(
    rng: random.Random,
    catalogue: Products,
    sales: Sales,
    procurement: Procurement,
    manufacturing: Manufacturing,
) -> dict[tuple[int, int], list[Booking]]:
    booked: dict[tuple[int, int], list[Booking]] = defaultdict(list)
    services = {p.product_id for p in catalogue.of_kind("SRV")}

    def book(warehouse: int, product: int, day: date, kind: str, qty: int, ref: str) -> None:
        if OPENING < day <= TODAY and qty and product not in services:
            booked[warehouse, product].append((working_hour(rng, day), kind, qty, ref))

    source: dict[int, int] = {}
    for shipment_id, order_id, line_no, qty in sales.shipped:
        shipment = sales.shipments[shipment_id - 1]
        product_id = sales.lines[order_id][line_no - 1].product_id
        source[order_id] = shipment.warehouse_id
        ref = sales.orders[order_id - 1].order_no
        book(shipment.warehouse_id, product_id, shipment.shipped_dt, "GI", -qty, ref)
    for item in sales.returns:
        if item.status in ("RCV", "RFD"):
            product_id = sales.lines[item.order_id][item.line_no - 1].product_id
            back = item.dt + timedelta(days=6)
            book(source[item.order_id], product_id, back, "RT", item.qty, f"RET-{item.return_id}")
    for product_id, warehouse_id, day, qty, number in procurement.received:
        book(warehouse_id, product_id, day, "GR", qty, number)
        if rng.random() < 0.6:  # production takes most of what was bought soon after
            used = day + timedelta(days=rng.randint(3, 40))
            book(warehouse_id, product_id, used, "GI", -int(qty * rng.uniform(0.4, 0.9)), "PROD")
    for product_id, warehouse_id, day, good, key in manufacturing.produced:
        book(warehouse_id, product_id, day, "PR", good, f"WO-{key}")
    for (warehouse_id, product_id), bookings in list(booked.items()):
        if rng.random() < 0.25 and len(bookings) > 2:
            counted = day_between(rng, date(2024, 9, 1), date(2025, 6, 20))
            book(warehouse_id, product_id, counted, "AD", rng.choice((-2, -1, -1, 1, 2)), "COUNT")
    return booked
