"""Module projects: projects with their tasks, members, hours, milestones and expenses."""

from __future__ import annotations

import random
from datetime import date, timedelta
from decimal import Decimal
from typing import NamedTuple

from data.demo_erp.rows.base import START, TODAY, Row, TableRows, day_between, maybe, money, rows_of
from data.demo_erp.rows.crm import Crm, Customer
from data.demo_erp.rows.finance import Reference
from data.demo_erp.rows.hr import Hr


class Project(NamedTuple):
    """A row of projects.projects."""

    project_id: int
    code: str
    name: str
    kind: str
    department_id: int
    lead_id: int | None
    customer_id: int | None
    cost_center_id: int
    parent_project_id: int | None
    status: str
    start_dt: date
    planned_end_dt: date
    actual_end_dt: date | None
    budget_amt: Decimal | None


# Name, kind, department, duration in months. A name with a * is a programme others belong to.
PLANS: tuple[tuple[str, str, str, int], ...] = (
    ("E-Drive 2025*", "RND", "RND-DRV", 40),
    ("Digital Plant*", "INT", "ITS", 38),
    ("Motor controller M95", "RND", "RND-DRV", 16),
    ("Battery management 2", "RND", "RND-DRV", 14),
    ("Torque sensor study", "RND", "RND-DRV", 7),
    ("Over-the-air updates", "RND", "RND-DRV", 11),
    ("Display View 2", "RND", "RND-DRV", 9),
    ("Shop-floor terminals", "INT", "ITS", 8),
    ("Warehouse scanners", "INT", "ITS", 6),
    ("ERP North America roll-out", "INT", "ITS", 9),
    ("Data warehouse", "INT", "ITS", 13),
    ("Office network renewal", "INT", "ITS", 5),
    ("Kies Aero frame", "RND", "RND", 18),
    ("Lasto Solar prototype", "RND", "RND", 15),
    ("Lightweight kids' frame", "RND", "RND", 10),
    ("Fjord II facelift", "RND", "RND", 9),
    ("Recycled aluminium tubes", "RND", "RND", 12),
    ("Crash-test rig", "RND", "QUA", 6),
    ("Second powder line", "INT", "MFG", 14),
    ("Lean assembly line 2", "INT", "MFG", 7),
    ("Solar roof plant Ulm", "INT", "MFG", 8),
    ("Brand relaunch", "INT", "MKT", 9),
    ("Dealer portal", "INT", "MKT", 12),
    ("Salary bands review", "INT", "HRM", 4),
    ("Supplier audit Asia", "INT", "PUR", 6),
    ("Packaging without plastic", "INT", "LOG", 7),
)
TASKS = (
    "Collect requirements|Draft concept|Review concept|Order material|Build prototype|Bench test|"
    "Road test|Fix findings|Write documentation|Train users|Roll out|Hand over|Close accounts|"
    "Check suppliers|Plan budget|Risk review"
)
FLEET_TOPICS = "Fleet set-up|Workshop fit-out|Rental station|Fleet analytics|Driver training"


def build_projects(
    rng: random.Random, hr: Hr, crm: Crm, reference: Reference
) -> tuple[TableRows, ...]:
    """Return the module projects."""
    projects = _projects(rng, hr, crm, reference)
    tasks: list[Row] = []
    members: list[Row] = []
    hours: list[Row] = []
    milestones: list[Row] = []
    expenses: list[Row] = []
    for project in projects:
        end = project.actual_end_dt or TODAY
        numbers = _tasks(rng, project, tasks)
        team = _members(rng, hr, project, members)
        if project.status != "PRP":
            _hours(rng, project, end, numbers, team, hours)
            _expenses(rng, project, end, [t[0] for t in team], expenses)
        names = ("Kick-off", "Concept approved", "Prototype ready", "Pilot done", "Go-live")
        span = (project.planned_end_dt - project.start_dt).days
        for number, name in enumerate(names[: rng.randint(3, 5)], 1):
            due = project.start_dt + timedelta(days=span * (number - 1) // 4)
            reached = due + timedelta(days=rng.choice((-4, 0, 0, 3, 12, 30)))
            done = reached if reached <= end and project.status != "PRP" else None
            milestones.append((project.project_id, number, name, due, done))
    return (
        TableRows("projects.projects", Project._fields, projects),
        rows_of(
            "projects.project_tasks",
            "project_id task_no title parent_task_no assignee_id status est_hours due_dt",
            tasks,
        ),
        rows_of(
            "projects.project_members",
            "project_id employee_id role_code allocation_pct left_dt",
            members,
        ),
        rows_of(
            "projects.time_entries",
            "entry_id project_id task_no employee_id work_dt hours billable rate",
            hours,
        ),
        rows_of(
            "projects.milestones", "project_id milestone_no name due_dt reached_dt", milestones
        ),
        rows_of(
            "projects.project_expenses",
            "expense_id project_id employee_id dt kind amt status",
            expenses,
        ),
    )


def _projects(rng: random.Random, hr: Hr, crm: Crm, reference: Reference) -> list[Project]:
    fleets = [c for c in crm.customers if c.segment_code in ("FLT", "PUB", "CHN")]
    plans: list[tuple[str, str, str, int, Customer | None]] = [(*plan, None) for plan in PLANS]
    for _ in range(38):
        fleet = rng.choice(fleets)
        topic = rng.choice(FLEET_TOPICS.split("|"))
        team = rng.choice(("SUP", "SUP", "RND-DRV", "SUP-NAM"))
        plans.append((f"{topic} {fleet.name}", "CUS", team, rng.randint(2, 11), fleet))
    projects: list[Project] = []
    for key, (name, kind, code, months, customer) in enumerate(plans, 1):
        programme = name.endswith("*")
        latest = date(2022, 3, 1) if programme else date(2025, 5, 1)
        start = day_between(rng, START + timedelta(days=10), latest)
        proposed = key > len(plans) - 4
        if proposed:
            start = day_between(rng, TODAY + timedelta(days=20), TODAY + timedelta(days=120))
        planned = start + timedelta(days=months * 30)
        real = planned + timedelta(days=rng.choice((-10, 0, 0, 14, 30, 75)))
        status = "DON" if real <= TODAY else "ACT"
        if not programme and rng.random() < 0.14:
            status = "CXL" if real <= TODAY else "HLD"
            real = min(real, start + timedelta(days=months * 12))
        if proposed:
            status = "PRP"
        ended = min(real, TODAY) if status in ("DON", "CXL") else None
        department = hr.department(code)
        parent = 1 if code == "RND-DRV" and kind == "RND" else 2 if code == "ITS" else None
        centers = [c for c in reference.cost_centers if c.department_id == department.department_id]
        leads = hr.staff(code, day=start)
        projects.append(
            Project(
                key,
                f"P{1000 + key * 3}",
                name.rstrip("*"),
                kind,
                department.department_id,
                None if status == "PRP" else maybe(rng, 0.95, rng.choice(leads).employee_id),
                customer.customer_id if customer else None,
                centers[-1].cost_center_id,
                parent if not programme else None,
                status,
                start,
                planned,
                ended,
                maybe(rng, 0.9, money(months * rng.randint(4, 22) * 1000)),
            )
        )
    return projects


def _tasks(rng: random.Random, project: Project, tasks: list[Row]) -> list[int]:
    titles = rng.sample(TASKS.split("|"), rng.randint(7, 14))
    numbers: list[int] = []
    closed = project.status in ("DON", "CXL")
    for number, title in enumerate(titles, 1):
        parent = rng.choice(numbers[:3]) if number > 3 and rng.random() < 0.45 else None
        status = "DON" if closed else rng.choices(("DON", "DOI", "TOD", "BLK"), (45, 25, 24, 6))[0]
        if project.status == "PRP":
            status = "TOD"
        due = day_between(rng, project.start_dt, project.planned_end_dt)
        hours = maybe(rng, 0.85, Decimal(rng.randint(2, 40) * 4))
        assignee = project.lead_id if rng.random() < 0.25 else None
        tasks.append(
            (
                project.project_id,
                number,
                title,
                parent,
                assignee,
                status,
                hours,
                maybe(rng, 0.8, due),
            )
        )
        numbers.append(number)
    return numbers


def _members(
    rng: random.Random, hr: Hr, project: Project, members: list[Row]
) -> list[tuple[int, date, date]]:
    """Add members; return each with the first and the last day that hours may be booked on."""
    code = next(d.code for d in hr.departments if d.department_id == project.department_id)
    pool = list(hr.staff(code, "RND", "ITS", day=project.start_dt))
    people = rng.sample(pool, min(len(pool), rng.randint(3, 8)))
    ids = {e.employee_id: e for e in people}
    if project.lead_id is not None:
        ids[project.lead_id] = hr.employees[project.lead_id - 1]
    team: list[tuple[int, date, date]] = []
    end = project.actual_end_dt or TODAY
    for key, employee in sorted(ids.items()):
        last = min(end, employee.exit_dt or end)
        left = employee.exit_dt if employee.exit_dt and employee.exit_dt < end else None
        role = "LEA" if key == project.lead_id else rng.choice(("ENG", "ENG", "DES", "CON", "QA"))
        share = rng.choice((10, 20, 20, 40, 50, 80, 100))
        members.append((project.project_id, key, role, share, left))
        team.append((key, max(project.start_dt, employee.hire_dt), last))
    return team


def _hours(
    rng: random.Random,
    project: Project,
    end: date,
    numbers: list[int],
    team: list[tuple[int, date, date]],
    hours: list[Row],
) -> None:
    billable = project.kind == "CUS"
    rate = money(rng.choice((85, 95, 110, 125)))
    for employee_id, first, last in team:
        pace = rng.uniform(5, 16)
        day = first + timedelta(days=int(rng.uniform(0, pace)))
        while day <= min(last, end):
            if day.weekday() < 5:
                charged = billable and rng.random() < 0.85
                task_no = rng.choice(numbers) if rng.random() < 0.88 else None
                worked = Decimal(rng.randint(2, 16)) / 2
                hours.append(
                    (
                        len(hours) + 1,
                        project.project_id,
                        task_no,
                        employee_id,
                        day,
                        worked,
                        charged,
                        rate if charged else None,
                    )
                )
            day += timedelta(days=1 + int(rng.expovariate(1 / pace)))


def _expenses(
    rng: random.Random, project: Project, end: date, team: list[int], expenses: list[Row]
) -> None:
    for _ in range(rng.randint(2, 22)):
        day = day_between(rng, project.start_dt, end)
        status = rng.choices(("PD", "APR", "REJ"), (88, 7, 5))[0]
        if (TODAY - day).days < 40:
            status = rng.choice(("SUB", "APR"))
        kind = rng.choices(("TRV", "HTL", "MAT", "SUB", "OTH"), (38, 22, 20, 8, 12))[0]
        scale = {"TRV": 5.4, "HTL": 5.6, "MAT": 6.6, "SUB": 8.2, "OTH": 4.6}[kind]
        amount = money(rng.lognormvariate(scale, 0.6))
        key = len(expenses) + 1
        expenses.append((key, project.project_id, rng.choice(team), day, kind, amount, status))
