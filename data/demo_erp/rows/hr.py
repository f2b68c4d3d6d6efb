"""Module hr: regions, departments, employees and what is recorded about them."""

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
from data.demo_erp.rows.names import person, plain


class Region(NamedTuple):
    """A row of hr.regions."""

    region_id: int
    code: str
    name: str
    parent_region_id: int | None


class Department(NamedTuple):
    """A row of hr.departments."""

    department_id: int
    code: str
    name: str
    parent_department_id: int | None
    region_id: int
    closed_dt: date | None


class Employee(NamedTuple):
    """A row of hr.employees."""

    employee_id: int
    emp_no: str
    first_name: str
    last_name: str
    email: str
    job_title: str
    grade_code: str
    department_id: int
    manager_id: int | None
    hire_dt: date
    exit_dt: date | None
    salary: Decimal
    fte_pct: int
    status: str

    def works_on(self, day: date) -> bool:
        """Return whether the person is employed on ``day``."""
        return self.hire_dt <= day and (self.exit_dt is None or day <= self.exit_dt)


class Payslip(NamedTuple):
    """A row of hr.payslips."""

    employee_id: int
    pay_month: date
    gross_amt: Decimal
    bonus_amt: Decimal
    tax_amt: Decimal
    net_amt: Decimal


@dataclass(frozen=True, slots=True)
class Hr:
    """The module's tables and the records other modules refer to."""

    tables: tuple[TableRows, ...]
    regions: tuple[Region, ...]
    departments: tuple[Department, ...]
    employees: tuple[Employee, ...]
    payslips: tuple[Payslip, ...]
    by_department: dict[str, tuple[Employee, ...]]

    def region_id(self, code: str) -> int:
        """Return the key of the region with this code."""
        return next(r.region_id for r in self.regions if r.code == code)

    def department(self, code: str) -> Department:
        """Return the department with this code."""
        return next(d for d in self.departments if d.code == code)

    def staff(self, *codes: str, day: date | None = None) -> Sequence[Employee]:
        """Return who works (on ``day``: by default, ever worked) in the departments named."""
        people = [e for code in codes for e in self.by_department[code]]
        return people if day is None else [e for e in people if e.works_on(day)] or people


REGIONS = (
    Region(1, "GLO", "Global", None),
    Region(2, "EMEA", "Europe, Middle East and Africa", 1),
    Region(3, "AMER", "Americas", 1),
    Region(4, "APAC", "Asia Pacific", 1),
    Region(5, "NOR", "Nordics", 2),
    Region(6, "DACH", "Central Europe", 2),
    Region(7, "WEU", "Western Europe", 2),
    Region(8, "SEU", "Southern Europe", 2),
    Region(9, "NAM", "North America", 3),
    Region(10, "LAM", "Latin America", 3),
    Region(11, "JPK", "East Asia", 4),
    Region(12, "ANZ", "Australia and New Zealand", 4),
)

GRADES: tuple[tuple[str, str, int, int], ...] = (
    ("G1", "Assistant", 28000, 38000),
    ("G2", "Skilled worker", 34000, 46000),
    ("G3", "Specialist", 42000, 58000),
    ("G4", "Senior specialist", 52000, 72000),
    ("G5", "Team lead", 64000, 86000),
    ("G6", "Head of department", 80000, 112000),
    ("G7", "Director", 105000, 150000),
    ("G8", "Board", 150000, 240000),
)

# Code, name, parent code, region code, people, job titles from junior to senior.
DEPARTMENTS: tuple[tuple[str, str, str, str, int, str], ...] = (
    ("EXE", "Executive Office", "", "DACH", 4, "Executive Assistant|Chief of Staff"),
    ("FIN", "Finance", "EXE", "DACH", 4, "Financial Analyst|Tax Specialist"),
    ("FIN-AR", "Accounts Receivable", "FIN", "DACH", 7, "Receivables Clerk|Credit Controller"),
    ("FIN-AP", "Accounts Payable", "FIN", "DACH", 6, "Payables Clerk|Payables Accountant"),
    ("FIN-CTL", "Controlling", "FIN", "DACH", 5, "Controller|Senior Controller"),
    ("HRM", "Human Resources", "EXE", "DACH", 8, "HR Assistant|Recruiter|Payroll Specialist"),
    ("SAL", "Sales", "EXE", "DACH", 3, "Sales Analyst|Key Account Manager"),
    ("SAL-NOR", "Sales Nordics", "SAL", "NOR", 9, "Sales Representative|Key Account Manager"),
    ("SAL-DACH", "Sales Central Europe", "SAL", "DACH", 15, "Sales Representative|Account Manager"),
    ("SAL-WEU", "Sales Western Europe", "SAL", "WEU", 12, "Sales Representative|Account Manager"),
    ("SAL-SEU", "Sales Southern Europe", "SAL", "SEU", 7, "Sales Representative|Account Manager"),
    ("SAL-NAM", "Sales North America", "SAL", "NAM", 11, "Sales Representative|Account Manager"),
    ("SAL-LAM", "Sales Latin America", "SAL", "LAM", 4, "Sales Representative|Account Manager"),
    ("SAL-JPK", "Sales East Asia", "SAL", "JPK", 5, "Sales Representative|Account Manager"),
    ("SAL-ANZ", "Sales Australia", "SAL", "ANZ", 4, "Sales Representative|Account Manager"),
    ("MKT", "Marketing", "EXE", "DACH", 10, "Content Editor|Campaign Planner|Brand Designer"),
    ("PUR", "Purchasing", "EXE", "DACH", 10, "Purchaser|Strategic Purchaser"),
    ("LOG", "Logistics", "EXE", "DACH", 22, "Warehouse Worker|Dispatcher|Logistics Planner"),
    ("LOG-WEU", "Logistics West", "LOG", "WEU", 9, "Warehouse Worker|Dispatcher"),
    ("LOG-NAM", "Logistics North America", "LOG", "NAM", 8, "Warehouse Worker|Dispatcher"),
    ("MFG", "Production", "EXE", "DACH", 6, "Production Planner|Process Engineer"),
    ("MFG-FRM", "Frame Shop", "MFG", "DACH", 24, "Welder|Machine Operator|Senior Welder"),
    ("MFG-PNT", "Paint Shop", "MFG", "DACH", 13, "Painter|Surface Technician"),
    ("MFG-ASM", "Assembly", "MFG", "DACH", 34, "Assembler|Bicycle Mechanic|Line Technician"),
    ("MFG-EBK", "E-Bike Assembly", "MFG", "DACH", 21, "Assembler|Mechatronics Technician"),
    ("QUA", "Quality", "EXE", "DACH", 9, "Quality Inspector|Quality Engineer"),
    ("MNT", "Maintenance", "MFG", "DACH", 8, "Maintenance Technician|Electrician"),
    ("RND", "Product Development", "EXE", "DACH", 16, "Designer|Design Engineer|Test Engineer"),
    ("RND-DRV", "Drive Systems", "RND", "DACH", 11, "Firmware Engineer|Systems Engineer"),
    ("ITS", "Information Technology", "EXE", "DACH", 11, "Support Technician|Systems Engineer"),
    ("SUP", "Customer Support", "EXE", "WEU", 15, "Support Agent|Senior Support Agent"),
    ("SUP-NAM", "Customer Support Americas", "SUP", "NAM", 7, "Support Agent|Senior Agent"),
    ("LEG", "Legal and Compliance", "EXE", "DACH", 0, ""),
    ("INN", "Innovation Lab", "RND", "NOR", 0, ""),
    ("RET", "Retail Pilot", "SAL", "DACH", 0, ""),
)

HOLIDAYS = {
    "NOR": ((1, 1, "New Year's Day"), (5, 1, "May Day"), (12, 24, "Christmas Eve")),
    "DACH": ((1, 1, "New Year's Day"), (5, 1, "Labour Day"), (12, 25, "Christmas Day")),
    "WEU": ((1, 1, "New Year's Day"), (5, 1, "Labour Day"), (12, 25, "Christmas Day")),
    "SEU": ((1, 1, "New Year's Day"), (1, 6, "Epiphany"), (8, 15, "Assumption Day")),
    "NAM": ((1, 1, "New Year's Day"), (7, 4, "Independence Day"), (12, 25, "Christmas Day")),
    "LAM": ((1, 1, "New Year's Day"), (5, 1, "Labour Day"), (9, 7, "Independence Day")),
    "JPK": ((1, 1, "New Year's Day"), (5, 5, "Children's Day"), (11, 3, "Culture Day")),
    "ANZ": ((1, 1, "New Year's Day"), (1, 26, "Australia Day"), (4, 25, "Anzac Day")),
}


def build_hr(rng: random.Random) -> Hr:
    """Return the module hr."""
    departments = _departments()
    employees = _employees(rng, departments)
    payslips = _payslips(rng, employees)
    by_id: dict[int, list[Employee]] = defaultdict(list)
    for employee in employees:
        by_id[employee.department_id].append(employee)
    region_ids = {r.code: r.region_id for r in REGIONS}
    holidays: list[Row] = [
        (region_ids[code], date(year, month, day), name)
        for code, days in HOLIDAYS.items()
        for year in range(2022, 2026)
        for month, day, name in days
    ]
    tables = (
        TableRows("hr.regions", Region._fields, REGIONS),
        TableRows("hr.departments", Department._fields, departments),
        rows_of("hr.job_grades", "grade_code title min_salary max_salary", GRADES),
        TableRows("hr.employees", Employee._fields, employees),
        _department_heads(rng, by_id),
        _absences(rng, employees),
        TableRows("hr.payslips", Payslip._fields, payslips),
        _reviews(rng, employees),
        rows_of("hr.public_holidays", "region_id holiday_dt name", holidays),
    )
    by_department = {d.code: tuple(by_id[d.department_id]) for d in departments}
    return Hr(tables, REGIONS, tuple(departments), tuple(employees), tuple(payslips), by_department)


def _departments() -> list[Department]:
    ids = {row[0]: i for i, row in enumerate(DEPARTMENTS, 1)}
    region_ids = {r.code: r.region_id for r in REGIONS}
    return [
        Department(
            ids[code],
            code,
            name,
            ids.get(parent),
            region_ids[region],
            date(2023, 12, 31) if code == "RET" else None,
        )
        for code, name, parent, region, _, _ in DEPARTMENTS
    ]


def _employees(rng: random.Random, departments: Sequence[Department]) -> list[Employee]:
    employees: list[Employee] = []
    heads: dict[int, int] = {}
    emails: set[str] = set()
    for department, (code, name, _, region, size, titles) in zip(
        departments, DEPARTMENTS, strict=True
    ):
        lead: int | None = None
        for position in range(size):
            employee_id = len(employees) + 1
            if position == 0:
                grade = "G8" if code == "EXE" else "G6" if "-" in code else "G7"
                title = "Chief Executive Officer" if code == "EXE" else f"Head of {name}"
                manager_id = heads.get(department.parent_department_id or 0)
                heads[department.department_id] = employee_id
            elif size > 12 and position % 8 == 1:
                grade, title = "G5", f"Team Lead {name}"
                manager_id, lead = heads[department.department_id], employee_id
            else:
                ladder = titles.split("|")
                step = min(rng.randrange(len(ladder)), rng.randrange(len(ladder)))
                title = ladder[step]
                base = 1 if code.startswith(("MFG", "LOG")) else 2
                grade = f"G{base + step + (rng.random() < 0.4)}"
                manager_id = lead or heads[department.department_id]
            leads_people = grade in ("G5", "G6", "G7", "G8")
            hired = day_between(rng, date(2008, 3, 1), date(2021, 12, 1))
            if not leads_people and rng.random() < 0.34:
                hired = day_between(rng, date(2022, 1, 3), date(2025, 5, 15))
            left = None
            if not leads_people and rng.random() < 0.13:
                left = day_between(rng, max(date(2022, 2, 1), hired + timedelta(60)), TODAY)
            low, high = next((g[2], g[3]) for g in GRADES if g[0] == grade)
            first, last = person(rng, region)
            email = f"{plain(first)}.{plain(last)}@velmark.example"
            if email in emails:
                email = email.replace("@", f"{employee_id}@")
            emails.add(email)
            employees.append(
                Employee(
                    employee_id,
                    f"E{10000 + employee_id * 7}",
                    first,
                    last,
                    email,
                    title,
                    grade,
                    department.department_id,
                    manager_id,
                    hired,
                    left,
                    Decimal(rng.randint(low, high)),
                    100 if leads_people else rng.choice((100, 100, 100, 100, 80, 60, 50)),
                    "TRM" if left else "LOA" if rng.random() < 0.03 else "ACT",
                )
            )
    return employees


def _department_heads(rng: random.Random, by_id: dict[int, list[Employee]]) -> TableRows:
    rows: list[Row] = []
    for department_id, members in sorted(by_id.items()):
        head = members[0]
        since = head.hire_dt
        veterans = [e for e in members[1:] if e.hire_dt.year < 2019]
        if veterans and rng.random() < 0.4:
            before = rng.choice(veterans)
            last = before.exit_dt or TODAY
            change = min(day_between(rng, date(2021, 6, 1), date(2024, 9, 30)), last)
            since = max(change, head.hire_dt) + timedelta(1)
            rows.append((department_id, before.hire_dt, change, before.employee_id))
        rows.append((department_id, since, None, head.employee_id))
    columns = "department_id valid_from valid_to employee_id"
    return rows_of("hr.department_heads", columns, rows)


def _absences(rng: random.Random, employees: Sequence[Employee]) -> TableRows:
    rows: list[Row] = []
    for employee in employees:
        for year in range(2022, 2026):
            for _ in range(rng.choice((1, 1, 2, 2, 3)) if year < 2025 else rng.choice((0, 1, 2))):
                kind = rng.choices(("VAC", "SIC", "PAR", "UNP"), (60, 36, 2, 2))[0]
                first = day_between(rng, date(year, 1, 3), date(year, 12, 10))
                if kind == "VAC" and rng.random() < 0.4:
                    first = first.replace(month=rng.choice((7, 8)), day=min(first.day, 28))
                days = {"VAC": 10, "SIC": 4, "PAR": 60, "UNP": 15}[kind]
                length = rng.randint(max(1, days // 3), days)
                last = first + timedelta(days=length + length // 5 * 2 - 1)
                if not (employee.works_on(first) and employee.works_on(last)):
                    continue
                if last > TODAY and kind == "SIC":
                    continue
                status = "APR"
                if kind != "SIC":
                    status = "REQ" if first > TODAY else rng.choices(("APR", "REJ"), (95, 5))[0]
                decided = kind != "SIC" and status != "REQ"
                rows.append(
                    (
                        len(rows) + 1,
                        employee.employee_id,
                        kind,
                        first,
                        last,
                        Decimal(length),
                        status,
                        employee.manager_id if decided else None,
                    )
                )
    columns = "absence_id employee_id kind from_dt to_dt days status approved_by"
    return rows_of("hr.absences", columns, rows)


def _payslips(rng: random.Random, employees: Sequence[Employee]) -> list[Payslip]:
    slips: list[Payslip] = []
    for employee in employees:
        last = employee.exit_dt or TODAY
        for month in month_starts(START, last):
            if month < employee.hire_dt.replace(day=1):
                continue
            raises = 0.972 ** (2025 - month.year)
            yearly = float(employee.salary) * employee.fte_pct / 100 * raises
            gross = money(yearly / 12)
            bonus = money(0)
            if month.month == 3 and employee.grade_code >= "G3":
                bonus = money(yearly * rng.uniform(0.02, 0.14))
            tax = money(float(gross + bonus) * (0.24 + int(employee.grade_code[1]) * 0.022))
            net = gross + bonus - tax
            slips.append(Payslip(employee.employee_id, month, gross, bonus, tax, net))
    return slips


def _reviews(rng: random.Random, employees: Sequence[Employee]) -> TableRows:
    rows: list[Row] = []
    for employee in employees:
        for year in (2022, 2023, 2024):
            if employee.manager_id is None or not (
                employee.works_on(date(year, 7, 1)) and employee.works_on(date(year, 12, 31))
            ):
                continue
            rating = rng.choices((1, 2, 3, 4, 5), (3, 12, 45, 30, 10))[0]
            done = maybe(rng, 0.96, rating)
            potential = maybe(rng, 0.7, rng.choice("LMMH"))
            rows.append((employee.employee_id, year, employee.manager_id, done, potential))
    columns = "employee_id review_year reviewer_id rating potential"
    return rows_of("hr.performance_reviews", columns, rows)
