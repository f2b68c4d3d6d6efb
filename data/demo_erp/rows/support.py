"""Module support: tickets with their history, surveys, knowledge articles and warranty claims."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from data.demo_erp.rows.base import (
    START,
    TODAY,
    Row,
    TableRows,
    day_between,
    maybe,
    money,
    rows_of,
    working_hour,
)
from data.demo_erp.rows.crm import Crm
from data.demo_erp.rows.hr import Hr
from data.demo_erp.rows.products import Products
from data.demo_erp.rows.sales import Sales


class Ticket(NamedTuple):
    """A row of support.tickets."""

    ticket_id: int
    ticket_no: str
    customer_id: int
    contact_id: int | None
    order_id: int | None
    product_id: int | None
    category_code: str
    sla_code: str
    agent_id: int | None
    priority: int
    type: str
    status: str
    opened_at: datetime
    first_response_at: datetime | None
    closed_at: datetime | None
    subject: str


SLAS = (("GLD", "Gold", 4, 24), ("SLV", "Silver", 8, 72), ("STD", "Standard", 24, 168))
RESPONSE = {row[0]: row[2] for row in SLAS}

CATEGORIES = (
    ("DEL", "Delivery", None),
    ("PRD", "Product", None),
    ("BIL", "Billing", None),
    ("DEL-LATE", "Late delivery", "DEL"),
    ("DEL-DMG", "Damaged on arrival", "DEL"),
    ("PRD-BAT", "Battery and motor", "PRD"),
    ("PRD-BRK", "Brakes", "PRD"),
    ("PRD-DRV", "Gears and drivetrain", "PRD"),
    ("PRD-FRM", "Frame and paint", "PRD"),
    ("PRD-SW", "Display and firmware", "PRD"),
    ("BIL-INV", "Wrong invoice", "BIL"),
    ("BIL-PAY", "Payment question", "BIL"),
)
SUBJECTS = {
    "DEL": "Delivery question|Change of address",
    "PRD": "Product question|Spare part wanted",
    "BIL": "Billing question",
    "DEL-LATE": "Where is our order?|Delivery overdue",
    "DEL-DMG": "Box crushed|Bent derailleur hanger on arrival",
    "PRD-BAT": "Battery does not charge|Motor cuts out|Range far too short",
    "PRD-BRK": "Brakes squeal|Brake lever goes to the bar",
    "PRD-DRV": "Chain skips|Gears will not shift",
    "PRD-FRM": "Paint flakes off|Creak in bottom bracket",
    "PRD-SW": "Display stays dark|Update fails|Error code 503",
    "BIL-INV": "Wrong quantity invoiced|Discount missing",
    "BIL-PAY": "Reminder although paid|Instalments possible?",
}
ARTICLES = (
    "How to reset the display|Charging below freezing|Adjusting disc brakes|Reading error codes|"
    "Registering a warranty claim|Storing batteries over winter|Truing a wheel|"
    "Changing the delivery address|Firmware update step by step|Torque table for all models|"
    "Understanding your invoice|Fitting a child seat|Replacing the motor bearing|"
    "Cleaning matte paint|Setting up a fleet account"
)


def build_support(
    rng: random.Random, hr: Hr, crm: Crm, catalogue: Products, sales: Sales
) -> tuple[TableRows, ...]:
    """Return the module support."""
    tickets = _tickets(rng, hr, crm, catalogue, sales)
    return (
        rows_of("support.sla_levels", "sla_code name response_hours resolution_hours", SLAS),
        rows_of("support.ticket_categories", "category_code name parent_category_code", CATEGORIES),
        TableRows("support.tickets", Ticket._fields, tickets),
        _events(rng, hr, tickets),
        _surveys(rng, tickets),
        _articles(rng, hr),
        _claims(rng, catalogue, sales, tickets),
    )


def _tickets(
    rng: random.Random, hr: Hr, crm: Crm, catalogue: Products, sales: Sales
) -> list[Ticket]:
    delivered = [s for s in sales.shipments if s.delivered_dt is not None]
    drafts: list[tuple[date, int]] = []  # day, order
    for _ in range(3500):
        shipment = rng.choice(delivered)
        arrived = shipment.delivered_dt or TODAY
        opened = arrived + timedelta(days=int(rng.expovariate(1 / 60)))
        if opened <= TODAY:
            drafts.append((opened, shipment.order_id))
    drafts.sort()
    agents = hr.staff("SUP", "SUP-NAM")
    diligence = {a.employee_id: rng.uniform(0.5, 1.7) for a in agents}
    tickets: list[Ticket] = []
    for key, (day, order_id) in enumerate(drafts, 1):
        order = sales.orders[order_id - 1]
        customer = crm.customers[order.customer_id - 1]
        line = rng.choice(sales.lines[order_id])
        category = _category(rng, catalogue, line.product_id)
        tier = {"CHN": "GLD", "FLT": "GLD", "DST": "SLV", "PUB": "SLV"}
        sla = tier.get(customer.segment_code, "STD")
        moment = working_hour(rng, day)
        known = crm.contacts[customer.customer_id]
        here = hr.staff("SUP-NAM" if customer.country_code in ("US", "CA", "BR", "MX") else "SUP")
        desk = [a for a in here if a.works_on(day)] or list(here)
        age = (TODAY - day).days
        status = "CLS" if age > 30 else rng.choice(("CLS", "SOL", "WIP", "WFC", "NEW"))
        if age > 30 and rng.random() < 0.03:
            status = rng.choice(("WFC", "WIP"))
        agent = None if status == "NEW" else rng.choice(desk).employee_id
        if agent is not None and rng.random() < 0.02:
            agent = None
        pace = diligence.get(agent or 0, 1.4)
        night = datetime.combine(TODAY, time(23, 59))
        answer: datetime | None = moment + timedelta(
            minutes=int(rng.expovariate(1 / (RESPONSE[sla] * 28 * pace))) + 3
        )
        if answer is None or answer > night or status == "NEW":
            answer = None
        priority = rng.choices((1, 2, 3, 4), (5, 20, 55, 20))[0]
        closed: datetime | None = None
        if status in ("SOL", "CLS"):
            answer = answer or moment + timedelta(minutes=30)
            closed = answer + timedelta(
                hours=int(rng.expovariate(1 / (16.0 * priority * pace))) + 1
            )
            closed = max(min(closed, night), answer)
        about_order = category.startswith(("DEL", "BIL")) or rng.random() < 0.3
        tickets.append(
            Ticket(
                key,
                f"T{day.year % 100}-{key:05d}",
                customer.customer_id,
                rng.choice(known) if known and rng.random() < 0.75 else None,
                order_id if about_order else None,
                line.product_id if category.startswith("PRD") else None,
                category,
                sla,
                agent,
                priority,
                rng.choices("EPWC", (40, 30, 20, 10))[0],
                status,
                moment,
                answer,
                closed,
                rng.choice(SUBJECTS[category].split("|")),
            )
        )
    return tickets


def _category(rng: random.Random, catalogue: Products, product_id: int) -> str:
    code = catalogue.category_code(catalogue.products[product_id - 1])
    if rng.random() < 0.42:
        logistics = ("DEL", "DEL-LATE", "DEL-DMG", "BIL", "BIL-INV", "BIL-PAY")
        return rng.choices(logistics, (10, 34, 20, 6, 18, 12))[0]
    electric = code in ("ECT", "ETR", "EMT", "ECG", "BAT")
    faults = ("PRD", "PRD-BRK", "PRD-DRV", "PRD-FRM", "PRD-BAT", "PRD-SW")
    return rng.choices(faults, (12, 16, 20, 12, 36, 28) if electric else (30, 22, 30, 18, 0, 0))[0]


def _events(rng: random.Random, hr: Hr, tickets: Sequence[Ticket]) -> TableRows:
    rows: list[Row] = []
    for ticket in tickets:
        last = ticket.closed_at or datetime.combine(TODAY, time(23, 59))
        steps: list[tuple[datetime, str, int | None]] = [(ticket.opened_at, "OPN", None)]
        if ticket.agent_id is not None:
            assigned = ticket.opened_at + timedelta(minutes=2)
            steps.append((min(assigned, last), "ASG", ticket.agent_id))
        if ticket.first_response_at is not None:
            steps.append((ticket.first_response_at, "RPL", ticket.agent_id))
            span = int((last - ticket.first_response_at).total_seconds())
            for _ in range(rng.choice((0, 0, 1, 1, 2))):
                kind = rng.choices(("CUS", "RPL", "ESC"), (48, 46, 6))[0]
                moment = ticket.first_response_at + timedelta(seconds=rng.randint(0, max(0, span)))
                moment = moment.replace(second=0, microsecond=0)
                moment = max(moment, ticket.first_response_at)
                steps.append((moment, kind, None if kind == "CUS" else ticket.agent_id))
            if ticket.closed_at is not None and span > 7200 and rng.random() < 0.05:
                third = timedelta(minutes=span // 180)
                steps.append((ticket.first_response_at + third, "SOL", ticket.agent_id))
                steps.append((ticket.first_response_at + third * 2, "RPN", None))
        if ticket.closed_at is not None:
            steps.append((ticket.closed_at, "SOL", ticket.agent_id))
        order = ("OPN", "ASG", "RPL", "CUS", "ESC", "RPN", "SOL")
        steps.sort(key=lambda s: (s[0], order.index(s[1])))
        for number, (moment, kind, actor) in enumerate(steps, 1):
            rows.append((ticket.ticket_id, number, kind, moment, actor))
    return rows_of("support.ticket_events", "ticket_id event_no kind happened_at actor_id", rows)


def _surveys(rng: random.Random, tickets: Sequence[Ticket]) -> TableRows:
    rows: list[Row] = []
    for ticket in tickets:
        if ticket.closed_at is None or ticket.first_response_at is None or rng.random() > 0.6:
            continue
        sent = min(TODAY, ticket.closed_at.date() + timedelta(days=1))
        answered = sent + timedelta(days=rng.randint(0, 12))
        if answered > TODAY or rng.random() > 0.55:
            rows.append((ticket.ticket_id, sent, None, None))
            continue
        hours = (ticket.closed_at - ticket.opened_at).total_seconds() / 3600
        mood = (3, 5, 12, 38, 42) if hours < 48 else (16, 22, 28, 24, 10)
        rows.append((ticket.ticket_id, sent, answered, rng.choices((1, 2, 3, 4, 5), mood)[0]))
    return rows_of("support.satisfaction_surveys", "ticket_id sent_dt answered_dt score", rows)


def _articles(rng: random.Random, hr: Hr) -> TableRows:
    rows: list[Row] = []
    authors = hr.staff("SUP", "SUP-NAM", day=TODAY)[:9]
    models = ("", " (Fjord)", " (Tauern)", " (Bjarka)", " (Aldo)")
    for title in ARTICLES.split("|"):
        for model in models[: rng.randint(1, 5)]:
            status = rng.choices(("PUB", "DRF", "ARC"), (76, 14, 10))[0]
            rows.append(
                (
                    len(rows) + 1,
                    title + model,
                    rng.choice(CATEGORIES)[0],
                    rng.choice(authors).employee_id,
                    status,
                    None if status == "DRF" else day_between(rng, START, TODAY),
                    0 if status == "DRF" else int(rng.paretovariate(0.9) * 40),
                )
            )
    columns = "article_id title category_code author_id status published_dt view_count"
    return rows_of("support.knowledge_articles", columns, rows)


def _claims(
    rng: random.Random, catalogue: Products, sales: Sales, tickets: Sequence[Ticket]
) -> TableRows:
    kinds = {p.product_id: p for p in catalogue.products}
    rows: list[Row] = []
    for ticket in tickets:
        product = kinds.get(ticket.product_id or 0)
        if product is None or product.kind == "SRV" or rng.random() > 0.26:
            continue
        opened = ticket.opened_at.date()
        claimed = min(TODAY, opened + timedelta(days=rng.randint(0, 9)))
        bought = max(product.launch_dt, opened - timedelta(days=rng.randint(20, 800)))
        decision = None
        if (TODAY - claimed).days > 20:
            decision = rng.choices(("ACC", "GDW", "REJ"), (58, 15, 27))[0]
        cost = None if decision is None else money(0)
        if decision in ("ACC", "GDW"):
            cost = money(float(product.std_cost) * rng.uniform(0.05, 0.6))
        serial = f"V{bought.year % 100}{product.product_id:03d}{rng.randint(10000, 99999)}"
        rows.append(
            (
                len(rows) + 1,
                maybe(rng, 0.92, ticket.ticket_id),
                ticket.customer_id,
                product.product_id,
                serial,
                min(bought, opened),
                claimed,
                decision,
                cost,
            )
        )
    columns = (
        "claim_id ticket_id customer_id product_id serial_no purchased_dt claimed_dt decision "
        "cost_amt"
    )
    return rows_of("support.warranty_claims", columns, rows)
