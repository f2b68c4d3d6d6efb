"""Module manufacturing: work centres, bills of material, routings, work orders and quality."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from data.demo_erp.rows.base import (
    START,
    TODAY,
    Row,
    TableRows,
    day_between,
    money,
    rows_of,
    working_hour,
)
from data.demo_erp.rows.hr import Hr
from data.demo_erp.rows.products import Product, Products
from data.demo_erp.rows.sales import SEASON, Sales


@dataclass(frozen=True, slots=True)
class Manufacturing:
    """The tables and what stock needs: product, warehouse, day, good units, work order."""

    tables: tuple[TableRows, ...]
    produced: tuple[tuple[int, int, date, int, int], ...]
    work_centers: tuple[int, ...]


# Code, name, department, hours a week, hourly rate.
WORK_CENTERS = (
    ("TUBE", "Tube cutting", "MFG-FRM", 76, 54),
    ("WELD1", "Welding cell 1", "MFG-FRM", 80, 68),
    ("WELD2", "Welding cell 2", "MFG-FRM", 80, 68),
    ("HEAT", "Heat treatment", "MFG-FRM", 110, 47),
    ("BLAST", "Sandblasting", "MFG-PNT", 60, 39),
    ("POWD", "Powder coating line", "MFG-PNT", 78, 61),
    ("OVEN", "Curing oven", "MFG-PNT", 90, 33),
    ("WHEEL", "Wheel building", "MFG-ASM", 75, 42),
    ("ASM1", "Assembly line 1", "MFG-ASM", 80, 46),
    ("ASM2", "Assembly line 2", "MFG-ASM", 80, 46),
    ("EASM", "E-bike assembly line", "MFG-EBK", 78, 52),
    ("FLASH", "Firmware and battery test", "MFG-EBK", 60, 57),
    ("FINAL", "Final inspection", "QUA", 70, 50),
    ("PACK", "Packing", "MFG-ASM", 70, 31),
    ("PROTO", "Prototype bench", "RND", 30, 75),
)

DEFECTS = (
    ("SCR", "Scratched paint", 1),
    ("COL", "Wrong shade", 1),
    ("TRU", "Wheel out of true", 2),
    ("SHF", "Gears badly adjusted", 2),
    ("ELC", "Display or wiring fault", 2),
    ("BRK", "Brake fails test", 3),
    ("WLD", "Crack in weld", 3),
)

Step = tuple[str, str, int, float]

STEPS: dict[str, tuple[Step, ...]] = {
    "Raw frame": (
        ("TUBE", "Cut and mitre tubes", 20, 6.0),
        ("WELD1", "Weld frame", 30, 21.0),
        ("HEAT", "Heat-treat", 45, 4.0),
    ),
    "Painted frame": (
        ("BLAST", "Blast surface", 10, 4.5),
        ("POWD", "Apply powder", 35, 6.5),
        ("OVEN", "Cure", 15, 3.0),
    ),
    "Wheelset": (("WHEEL", "Lace and true wheels", 10, 14.0),),
    "bike": (
        ("ASM1", "Assemble", 15, 34.0),
        ("FINAL", "Inspect", 5, 6.0),
        ("PACK", "Pack", 5, 4.0),
    ),
    "e-bike": (
        ("EASM", "Assemble with drive", 20, 47.0),
        ("FLASH", "Flash firmware, test battery", 10, 9.0),
        ("FINAL", "Inspect", 5, 8.0),
        ("PACK", "Pack", 5, 5.0),
    ),
}


def build_manufacturing(
    rng: random.Random, hr: Hr, catalogue: Products, sales: Sales
) -> Manufacturing:
    """Return the module manufacturing."""
    center_ids = {row[0]: i for i, row in enumerate(WORK_CENTERS, 1)}
    centers: list[Row] = [
        (i, code, name, hr.department(dept).department_id, Decimal(hours), money(rate))
        for i, (code, name, dept, hours, rate) in enumerate(WORK_CENTERS, 1)
    ]
    made = [p for p in catalogue.of_kind("FIN", "SUB") if p.status != "DEV"]
    routings = {p.product_id: _routing(rng, catalogue, p) for p in made}
    steps: list[Row] = [
        (key, step_no, center_ids[code], text, setup, Decimal(str(run)))
        for key, routing in routings.items()
        for step_no, (code, text, setup, run) in routing
    ]
    work_tables, produced = _work_orders(rng, hr, catalogue, sales, made, routings)
    tables = (
        rows_of(
            "manufacturing.work_centers",
            "work_center_id code name department_id hours_week hourly_rate",
            centers,
        ),
        _bom(rng, catalogue),
        rows_of(
            "manufacturing.routing_steps",
            "product_id step_no work_center_id description setup_min run_min",
            steps,
        ),
        *work_tables,
    )
    return Manufacturing(tables, tuple(produced), tuple(center_ids.values()))


def _family(product: Product) -> str:
    """Return the model a bike belongs to: its name without trim and generation."""
    return product.name.split()[0]


def _is_electric(catalogue: Products, product: Product) -> bool:
    return catalogue.category_code(product) in ("ECT", "ETR", "EMT", "ECG")


def _routing(rng: random.Random, catalogue: Products, product: Product) -> list[tuple[int, Step]]:
    kind = "e-bike" if _is_electric(catalogue, product) else "bike"
    if product.kind == "SUB":
        kind = next(k for k in STEPS if product.name.startswith(k))
    pace = rng.uniform(0.85, 1.2)
    routing: list[tuple[int, Step]] = []
    for position, (code, text, setup, run) in enumerate(STEPS[kind], 1):
        center = code
        if code in ("WELD1", "ASM1") and rng.random() < 0.5:
            center = code[:-1] + "2"
        routing.append((position * 10, (center, text, setup, round(run * pace, 1))))
    return routing


def _bom(rng: random.Random, catalogue: Products) -> TableRows:
    by_name = {p.name: p.product_id for p in catalogue.products}
    rows: list[Row] = []

    def add(parent: Product, name: str, qty: float, scrap: float = 0) -> None:
        amount, waste = Decimal(str(qty)), Decimal(str(scrap))
        rows.append((parent.product_id, by_name[name], amount, waste))

    for product in catalogue.of_kind("SUB"):
        model = product.name.split()[-1]
        if product.name.startswith("Raw frame"):
            tube = rng.choice(("Aluminium tube 6061", "Aluminium tube 7005", "Steel tube 25CrMo4"))
            add(product, tube, round(rng.uniform(3.2, 4.8), 2), 4)
        elif product.name.startswith("Painted frame"):
            add(product, f"Raw frame {model}", 1)
            add(product, rng.choice(("Powder paint black", "Powder paint moss")), 0.35, 6)
            add(product, "Clear coat", 0.2, 6)
        else:
            small = model in ("Pepe", "Minka")
            sport = model.startswith(("Grat", "Kamm", "Kies", "Strada"))
            rim = "Rim 20 double wall" if small else "Rim 29 tubeless" if sport else None
            tyre = "Tyre Kid 20" if small else "Tyre Grip 29" if sport else "Tyre Touring 28"
            add(product, rim or "Rim 28 double wall", 2, 1)
            add(product, "Spoke set 36", 2)
            add(product, "Hub pair thru-axle" if sport else "Hub pair standard", 1)
            add(product, tyre, 2, 1)
    for product in catalogue.of_kind("FIN"):
        if product.status == "DEV":
            continue
        model = _family(product)
        dear = float(product.list_price or 0) > 1500
        add(product, f"Painted frame {model}", 1)
        add(product, f"Wheelset {model}", 1)
        add(product, "Derailleur set 12-speed" if dear else "Derailleur set 10-speed", 1)
        add(product, "Disc brake pair D4" if dear else "Disc brake pair D2", 1)
        add(product, rng.choice(("Saddle Comfort", "Saddle Sport")), 1)
        add(product, "Handlebar set", 1)
        add(product, "Pedal pair", 1)
        add(product, "Cardboard box bike", 1, 2)
        if _is_electric(catalogue, product):
            motor = "Mid motor M85" if float(product.list_price or 0) > 4000 else "Mid motor M65"
            size = next((s for s in ("400", "500", "625", "750") if s in product.name), "750")
            add(product, motor, 1)
            add(product, f"Battery {size} Wh", 1)
            add(product, "Display unit View", 1)
    return rows_of("manufacturing.bom_items", "parent_product_id component_id qty scrap_pct", rows)


def _work_orders(
    rng: random.Random,
    hr: Hr,
    catalogue: Products,
    sales: Sales,
    made: list[Product],
    routings: dict[int, list[tuple[int, Step]]],
) -> tuple[list[TableRows], list[tuple[int, int, date, int, int]]]:
    departments = {row[0]: row[2] for row in WORK_CENTERS}
    months = [date(y, m, 1) for y in range(2022, 2026) for m in range(1, 13)]
    months = [m for m in months if m <= TODAY]
    starts = sorted(
        max(START, m + timedelta(days=rng.randint(0, 27)))
        for m in rng.choices(months, [SEASON[m.month % 12] for m in months], k=1350)
    )
    starts += sorted(day_between(rng, TODAY, TODAY + timedelta(days=30)) for _ in range(24))
    big_orders = [o for o in sales.orders if o.amt > 15000 and o.status != "CXL"]
    weights = [3.0 if p.kind == "FIN" else 1.4 for p in made]
    orders: list[Row] = []
    operations: list[Row] = []
    inspections: list[Row] = []
    produced: list[tuple[int, int, date, int, int]] = []
    for key, start in enumerate(starts, 1):
        product = rng.choices(made, weights)[0]
        while product.discontinued_dt is not None and product.discontinued_dt < start:
            product = rng.choices(made, weights)[0]
        planned = rng.choice((10, 15, 20, 25, 30, 40, 60))
        end = start + timedelta(days=rng.randint(4, 16))
        late = end + timedelta(days=rng.choice((-2, -1, 0, 0, 0, 1, 2, 5, 9)))
        status = "FIN" if late < TODAY - timedelta(days=3) else "RUN"
        if start > TODAY - timedelta(days=4):
            status = rng.choice(("PLN", "REL"))
        elif rng.random() < 0.03:
            status = "CXL"
        scrap = int(planned * rng.choice((0, 0, 0, 0.02, 0.05, 0.1))) if status == "FIN" else 0
        good = planned - scrap if status == "FIN" else planned // 3 if status == "RUN" else 0
        finished = late if status == "FIN" else None
        fits = [o for o in big_orders if 0 <= (start - o.order_dt).days < 20]
        made_for = rng.choice(fits).order_id if fits and rng.random() < 0.2 else None
        planner = rng.choice(hr.staff("MFG", day=start)).employee_id
        orders.append(
            (
                key,
                product.product_id,
                2 if product.kind == "SUB" else 1,
                made_for,
                planner if rng.random() < 0.95 else None,
                planned,
                good,
                scrap,
                status,
                start,
                end,
                finished,
            )
        )
        if finished is not None:
            warehouse = 2 if product.kind == "SUB" else 1
            produced.append((product.product_id, warehouse, finished, good, key))
        routing = routings[product.product_id]
        day = start
        for position, (step_no, (center, _, setup, run)) in enumerate(routing):
            state = {"FIN": "D", "RUN": "D" if position == 0 else "W"}.get(status, "W")
            if status == "RUN" and position == 1:
                state = "R"
            people = hr.staff(departments[center], day=day)
            minutes = (setup + run * planned) * rng.uniform(0.88, 1.25)
            operations.append(
                (
                    key,
                    product.product_id,
                    step_no,
                    None if state == "W" else rng.choice(people).employee_id,
                    state,
                    None if state == "W" else working_hour(rng, min(day, TODAY)),
                    Decimal(str(round(minutes, 1))) if state == "D" else None,
                )
            )
            last = finished or TODAY
            day = min(last, day + timedelta(days=max(1, (last - start).days // len(routing))))
        if finished is not None and rng.random() < 0.65:
            sample = min(good, rng.choice((3, 5, 8, 10)))
            bad = rng.randint(1, max(1, sample // 3)) if rng.random() < 0.17 else 0
            code = rng.choices([d[0] for d in DEFECTS], (30, 12, 18, 18, 9, 5, 4))[0]
            if code == "ELC" and not _is_electric(catalogue, product):
                code = "SCR"
            verdict = "P" if bad == 0 else rng.choices("RF", (80, 20))[0]
            inspections.append(
                (
                    len(inspections) + 1,
                    key,
                    rng.choice(hr.staff("QUA", day=finished)).employee_id,
                    day_between(rng, finished, min(TODAY, finished + timedelta(days=3))),
                    sample,
                    bad,
                    code if bad else None,
                    verdict,
                )
            )
    tables = [
        rows_of(
            "manufacturing.work_orders",
            "work_order_id product_id warehouse_id order_id planner_id qty_planned qty_good "
            "qty_scrap status planned_start_dt planned_end_dt finished_dt",
            orders,
        ),
        rows_of(
            "manufacturing.work_order_operations",
            "work_order_id product_id step_no operator_id status started_at minutes_actual",
            operations,
        ),
        rows_of("manufacturing.defect_codes", "defect_code description severity", DEFECTS),
        rows_of(
            "manufacturing.quality_inspections",
            "inspection_id work_order_id inspector_id inspected_dt sample_qty defect_qty "
            "defect_code result",
            inspections,
        ),
    ]
    return tables, produced
