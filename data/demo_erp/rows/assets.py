"""Module assets: sites, fixed assets, who has them, their depreciation and maintenance."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

from data.demo_erp.rows.base import TODAY, Row, TableRows, day_between, maybe, money, rows_of
from data.demo_erp.rows.hr import Hr
from data.demo_erp.rows.manufacturing import WORK_CENTERS, Manufacturing
from data.demo_erp.rows.procurement import Procurement


class Asset(NamedTuple):
    """A row of assets.fixed_assets."""

    asset_id: int
    asset_no: str
    name: str
    class_code: str
    parent_asset_id: int | None
    department_id: int
    site_id: int
    work_center_id: int | None
    supplier_id: int | None
    acquired_dt: date
    cost_amt: Decimal
    status: str
    disposed_dt: date | None


@dataclass(frozen=True, slots=True)
class Assets:
    """The tables, and each depreciation as department, first day of the quarter and amount."""

    tables: tuple[TableRows, ...]
    depreciation: tuple[tuple[int, date, Decimal], ...]


# Code, name, kind, city, country, region.
SITES = (
    ("ULM-HQ", "Headquarters Ulm", "OFF", "Ulm", "DE", "DACH"),
    ("ULM-P1", "Plant Ulm", "PLT", "Ulm", "DE", "DACH"),
    ("ULM-LC", "Logistics Centre Ulm", "DEP", "Ulm", "DE", "DACH"),
    ("GRZ", "Office Graz", "OFF", "Graz", "AT", "DACH"),
    ("MLM", "Office Malmo", "OFF", "Malmo", "SE", "NOR"),
    ("UTR", "Office and Depot Utrecht", "DEP", "Utrecht", "NL", "WEU"),
    ("LYO", "Showroom Lyon", "SHW", "Lyon", "FR", "WEU"),
    ("BRI", "Office Bristol", "OFF", "Bristol", "GB", "WEU"),
    ("BOL", "Office Bologna", "OFF", "Bologna", "IT", "SEU"),
    ("PDX", "Office and Depot Portland", "DEP", "Portland", "US", "NAM"),
    ("CWB", "Office Curitiba", "OFF", "Curitiba", "BR", "LAM"),
    ("KYO", "Office Kyoto", "OFF", "Kyoto", "JP", "JPK"),
    ("ADL", "Office Adelaide", "OFF", "Adelaide", "AU", "ANZ"),
    ("FRB", "Showroom Freiburg", "SHW", "Freiburg", "DE", "DACH"),
)
HOME_SITE = {
    "NOR": 5,
    "DACH": 1,
    "WEU": 6,
    "SEU": 9,
    "NAM": 10,
    "LAM": 11,
    "JPK": 12,
    "ANZ": 13,
}
CLASSES = (
    ("MAC", "Production machine", 120, "1100"),
    ("TOO", "Tooling and fixture", 60, "1100"),
    ("FLT", "Forklift", 96, "1110"),
    ("CAR", "Company car", 72, "1110"),
    ("BIK", "Company and demo bike", 36, "1110"),
    ("LAP", "Laptop", 36, "1120"),
    ("SRV", "Server and network", 60, "1120"),
    ("FUR", "Furniture", 156, "1120"),
)
LIFE = {row[0]: row[2] for row in CLASSES}


def build_assets(
    rng: random.Random, hr: Hr, procurement: Procurement, manufacturing: Manufacturing
) -> Assets:
    """Return the module assets."""
    sites: list[Row] = [
        (i, code, name, kind, city, country, hr.region_id(region))
        for i, (code, name, kind, city, country, region) in enumerate(SITES, 1)
    ]
    assets = _assets(rng, hr, procurement)
    dep_rows, depreciation = _depreciation(assets)
    tables = (
        rows_of("assets.sites", "site_id code name kind city country_code region_id", sites),
        rows_of("assets.asset_classes", "class_code name life_months account_no", CLASSES),
        TableRows("assets.fixed_assets", Asset._fields, assets),
        _assignments(rng, hr, assets),
        rows_of("assets.depreciation_entries", "asset_id quarter_start amt book_value", dep_rows),
        _maintenance(rng, hr, procurement, assets),
    )
    return Assets(tables, tuple(depreciation))


def _assets(rng: random.Random, hr: Hr, procurement: Procurement) -> list[Asset]:
    codes = {r.region_id: r.code for r in hr.regions}
    sites = {d.department_id: HOME_SITE[codes[d.region_id]] for d in hr.departments}
    suppliers = [s.supplier_id for s in procurement.suppliers]
    assets: list[Asset] = []

    def add(
        name: str, kind: str, department_id: int, site_id: int, cost: float, bought: date,
        parent: int | None = None, center: int | None = None,
    ) -> int:  # fmt: skip
        key = len(assets) + 1
        status = rng.choices(("USE", "STO", "REP"), (90, 6, 4))[0]
        gone = None
        if (TODAY - bought).days > LIFE[kind] * 30 and rng.random() < 0.6:
            status = "DIS"
            gone = day_between(rng, max(date(2022, 1, 5), bought + timedelta(900)), TODAY)
        assets.append(
            Asset(
                key,
                f"A-{100000 + key * 13}",
                name,
                kind,
                parent,
                department_id,
                site_id,
                center,
                maybe(rng, 0.8, rng.choice(suppliers)),
                bought,
                money(cost),
                status,
                gone,
            )
        )
        return key

    for center, (_, name, code, _, _) in enumerate(WORK_CENTERS, 1):
        owner = hr.department(code).department_id
        for number in range(1, rng.randint(2, 5)):
            bought = day_between(rng, date(2013, 1, 1), date(2024, 10, 1))
            cost = rng.uniform(28000, 310000)
            machine = add(f"{name}, machine {number}", "MAC", owner, 2, cost, bought, None, center)
            for tool in range(rng.choice((0, 1, 1, 2))):
                later = day_between(rng, bought, date(2025, 4, 1))
                cost = rng.uniform(1200, 14000)
                add(f"{name}, fixture {tool + 1}", "TOO", owner, 2, cost, later, machine, center)
    for code, count in (("LOG", 12), ("LOG-WEU", 5), ("LOG-NAM", 4)):
        department = hr.department(code)
        site = 3 if code == "LOG" else sites[department.department_id]
        for number in range(count):
            bought = day_between(rng, date(2015, 1, 1), date(2024, 6, 1))
            cost = rng.uniform(19000, 42000)
            add(f"Forklift {number + 1}", "FLT", department.department_id, site, cost, bought)
    office = [e for e in hr.employees if e.grade_code >= "G3"]
    for employee in office:
        site = sites[employee.department_id]
        bought = max(employee.hire_dt, day_between(rng, date(2019, 1, 1), date(2025, 3, 1)))
        cost = rng.uniform(980, 2650)
        add(f"Laptop {rng.choice((13, 14, 16))}", "LAP", employee.department_id, site, cost, bought)
        if employee.grade_code >= "G6" and rng.random() < 0.7:
            bought = day_between(rng, date(2018, 1, 1), date(2024, 12, 1))
            cost = rng.uniform(29000, 68000)
            add("Company car", "CAR", employee.department_id, site, cost, bought)
    for department in hr.departments:
        key, site = department.department_id, sites[department.department_id]
        size = len(hr.by_department[department.code])
        if not size:
            continue
        for _ in range(1 + size // 6):
            bought = day_between(rng, date(2012, 1, 1), date(2025, 2, 1))
            add("Desk and chair set", "FUR", key, site, rng.uniform(450, 1900) * 4, bought)
        if department.code in ("SAL-DACH", "SAL-WEU", "SAL-NAM", "SAL-NOR", "MKT", "RND"):
            for number in range(9):
                bought = day_between(rng, date(2020, 3, 1), date(2025, 4, 1))
                add(f"Demo bike {number + 1}", "BIK", key, site, rng.uniform(700, 4200), bought)
    servers = hr.department("ITS").department_id
    for number in range(18):
        bought = day_between(rng, date(2016, 1, 1), date(2025, 1, 1))
        rack = f"Server {number + 1}"
        add(rack, "SRV", servers, rng.choice((1, 1, 2, 6, 10)), rng.uniform(3500, 28000), bought)
    return assets


def _assignments(rng: random.Random, hr: Hr, assets: Sequence[Asset]) -> TableRows:
    staff: dict[int, list[tuple[int, date, date]]] = {}
    for e in hr.employees:
        entry = (e.employee_id, e.hire_dt, e.exit_dt or TODAY)
        staff.setdefault(e.department_id, []).append(entry)
    rows: list[Row] = []
    for asset in assets:
        if asset.class_code not in ("LAP", "CAR", "BIK"):
            continue
        day = asset.acquired_dt + timedelta(days=rng.randint(1, 20))
        end = asset.disposed_dt or TODAY
        while day < end and rng.random() < 0.9:
            here = [s for s in staff[asset.department_id] if s[1] <= day < s[2]]
            if not here:
                break
            employee_id, _, leaves = rng.choice(here)
            back = min(leaves, end, day + timedelta(days=rng.randint(200, 1800)))
            open_end = back >= TODAY and asset.status in ("USE", "REP")
            rows.append((asset.asset_id, day, employee_id, None if open_end else back))
            if open_end:
                break
            day = back + timedelta(days=rng.randint(1, 60))
    return rows_of("assets.asset_assignments", "asset_id from_dt employee_id to_dt", rows)


def _depreciation(
    assets: Sequence[Asset],
) -> tuple[list[Row], list[tuple[int, date, Decimal]]]:
    """Return quarterly entries since 2022: in equal parts until nothing is left."""
    rows: list[Row] = []
    booked: list[tuple[int, date, Decimal]] = []
    quarters = [date(y, m, 1) for y in range(2022, 2026) for m in (1, 4, 7, 10)]
    for asset in assets:
        total = LIFE[asset.class_code] // 3
        part = money(float(asset.cost_amt) / total)
        for first in quarters:
            past = (first.year - asset.acquired_dt.year) * 4
            past += (first.month - 1) // 3 - (asset.acquired_dt.month - 1) // 3
            gone = asset.disposed_dt is not None and asset.disposed_dt < first
            if first > TODAY or past < 0 or past >= total or gone:
                continue
            left = asset.cost_amt - part * (past + 1) if past < total - 1 else Decimal("0.00")
            amount = part if past < total - 1 else asset.cost_amt - part * past
            rows.append((asset.asset_id, first, amount, left))
            booked.append((asset.department_id, first, amount))
    return rows, booked


def _maintenance(
    rng: random.Random, hr: Hr, procurement: Procurement, assets: Sequence[Asset]
) -> TableRows:
    machines = [a for a in assets if a.class_code in ("MAC", "FLT", "CAR", "TOO")]
    firms = [s.supplier_id for s in procurement.suppliers if s.grade in ("A", "B")]
    trouble = [rng.paretovariate(1.5) for _ in machines]
    rows: list[Row] = []
    for asset in rng.choices(machines, trouble, k=620):
        upto = asset.disposed_dt or TODAY
        opened = day_between(rng, max(date(2022, 1, 3), asset.acquired_dt), upto)
        if opened > upto:
            continue
        kind = rng.choices(("PM", "CM", "SI"), (46, 42, 12))[0]
        closed: date | None = opened + timedelta(days=rng.choice((0, 1, 1, 2, 4, 9, 20)))
        status = "CLS"
        if closed is None or closed > TODAY or rng.random() < 0.015:
            status, closed = rng.choice(("OPN", "WIP")), None
        outside = rng.random() < 0.2
        technician = None
        if not outside and status != "OPN":
            technician = rng.choice(hr.staff("MNT", day=opened)).employee_id
        hours = rng.expovariate(1 / {"PM": 3.0, "CM": 14.0, "SI": 1.5}[kind])
        cost = money(rng.lognormvariate({"PM": 5.6, "CM": 6.8, "SI": 5.1}[kind], 0.8))
        rows.append(
            (
                len(rows) + 1,
                asset.asset_id,
                kind,
                technician,
                rng.choice(firms) if outside else None,
                opened,
                closed,
                Decimal(str(round(hours, 1))),
                cost if closed else None,
                status,
            )
        )
    columns = (
        "maintenance_id asset_id kind technician_id supplier_id opened_dt closed_dt "
        "downtime_hours cost_amt status"
    )
    return rows_of("assets.maintenance_orders", columns, rows)
