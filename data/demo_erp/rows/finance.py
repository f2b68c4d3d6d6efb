"""Module finance, first half: reference data, budgets and receivables. The ledger is in ``ledger``.

Receivables come from what was shipped: one invoice an order, dated on its last delivery.
"""

from __future__ import annotations

import random
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
    money,
    month_starts,
    rows_of,
)
from data.demo_erp.rows.crm import Crm
from data.demo_erp.rows.hr import Hr
from data.demo_erp.rows.sales import Sales


class Invoice(NamedTuple):
    """A row of finance.invoices."""

    invoice_id: int
    invoice_no: str
    cust_no: int
    order_id: int | None
    dt: date
    due_dt: date
    term_code: str
    net_amt: Decimal
    tax_amt: Decimal
    amt: Decimal
    status: str
    dunning_level: int


class CostCenter(NamedTuple):
    """A row of finance.cost_centers."""

    cost_center_id: int
    code: str
    name: str
    department_id: int
    valid_to: date | None


@dataclass(frozen=True, slots=True)
class Reference:
    """Reference tables and the records other modules refer to. ``rates`` is by currency, month."""

    tables: tuple[TableRows, ...]
    cost_centers: tuple[CostCenter, ...]
    rates: dict[tuple[str, date], Decimal]


CURRENCIES: tuple[tuple[str, str, int, float], ...] = (
    ("EUR", "Euro", 2, 1.0),
    ("USD", "US dollar", 2, 0.91),
    ("GBP", "Pound sterling", 2, 1.17),
    ("SEK", "Swedish krona", 2, 0.089),
    ("NOK", "Norwegian krone", 2, 0.088),
    ("DKK", "Danish krone", 2, 0.134),
    ("CHF", "Swiss franc", 2, 1.03),
    ("PLN", "Polish zloty", 2, 0.224),
    ("CZK", "Czech koruna", 2, 0.0405),
    ("JPY", "Japanese yen", 0, 0.0066),
    ("KRW", "South Korean won", 0, 0.0007),
    ("AUD", "Australian dollar", 2, 0.61),
    ("NZD", "New Zealand dollar", 2, 0.56),
    ("CAD", "Canadian dollar", 2, 0.68),
    ("BRL", "Brazilian real", 2, 0.18),
    ("MXN", "Mexican peso", 2, 0.051),
    ("CNY", "Chinese yuan", 2, 0.129),
    ("TWD", "New Taiwan dollar", 2, 0.029),
)

TERMS = (
    ("N14", "14 days net", 14, Decimal("0.00"), 0),
    ("N30", "30 days net", 30, Decimal("0.00"), 0),
    ("N60", "60 days net", 60, Decimal("0.00"), 0),
    ("D10", "2 percent within 10 days, 30 days net", 30, Decimal("2.00"), 10),
    ("PRE", "Payment on invoice", 0, Decimal("0.00"), 0),
)
NET_DAYS = {term[0]: term[2] for term in TERMS}

ACCOUNTS = (
    ("1000", "Assets", None, "A"),
    ("1100", "Machinery and equipment", "1000", "A"),
    ("1110", "Vehicles", "1000", "A"),
    ("1120", "Computers and furniture", "1000", "A"),
    ("1200", "Trade receivables", "1000", "A"),
    ("1800", "Bank", "1000", "A"),
    ("2000", "Liabilities", None, "L"),
    ("2100", "Trade payables", "2000", "L"),
    ("2200", "Value-added tax", "2000", "L"),
    ("2300", "Payroll liabilities", "2000", "L"),
    ("3000", "Equity", None, "Q"),
    ("4000", "Revenue", None, "R"),
    ("4100", "Revenue from goods", "4000", "R"),
    ("4200", "Revenue from services", "4000", "R"),
    ("5000", "Cost of materials", None, "X"),
    ("5100", "Purchased materials", "5000", "X"),
    ("6000", "Operating costs", None, "X"),
    ("6100", "Salaries and wages", "6000", "X"),
    ("6200", "Depreciation", "6000", "X"),
    ("6300", "Rent and utilities", "6000", "X"),
    ("6400", "Travel", "6000", "X"),
    ("6500", "Marketing", "6000", "X"),
    ("6900", "Other costs", "6000", "X"),
)


def build_reference(rng: random.Random, hr: Hr) -> Reference:
    """Return currencies, rates, terms, accounts, cost centres, periods and budgets."""
    rates: dict[tuple[str, date], Decimal] = {}
    for code, _, _, level in CURRENCIES:
        value = level
        for month in month_starts(START, TODAY):
            rates[code, month] = Decimal(str(round(value, 6)))
            if code not in ("EUR", "DKK"):
                value *= 1 + rng.uniform(-0.018, 0.018)
    rate_rows: list[Row] = [(code, month, rate) for (code, month), rate in rates.items()]
    centers: list[CostCenter] = []
    for department in hr.departments:
        names = [department.name]
        if department.code in ("MFG-FRM", "MFG-ASM", "RND", "ITS", "MKT", "SAL", "LOG"):
            names.append(f"{department.name}, projects")
        for name in names:
            key = len(centers) + 1
            centers.append(
                CostCenter(
                    key,
                    f"CC-{1000 + key * 10}",
                    name,
                    department.department_id,
                    department.closed_dt,
                )
            )
    tables = (
        rows_of("finance.currencies", "currency_code name decimals", [c[:3] for c in CURRENCIES]),
        rows_of("finance.exchange_rates", "currency_code valid_from rate", rate_rows),
        rows_of(
            "finance.payment_terms",
            "term_code description net_days discount_pct discount_days",
            TERMS,
        ),
        rows_of("finance.gl_accounts", "account_no name parent_account_no kind", ACCOUNTS),
        TableRows("finance.cost_centers", CostCenter._fields, centers),
        _periods(),
        _budgets(rng, hr, centers),
    )
    return Reference(tables, tuple(centers), rates)


def fiscal_period(day: date) -> tuple[int, int]:
    """Return the fiscal year and period of a day: the year runs July to June.

    >>> fiscal_period(date(2024, 7, 1))
    (2025, 1)
    """
    return day.year + (day.month >= 7), (day.month - 7) % 12 + 1


def _periods() -> TableRows:
    rows: list[Row] = []
    for first in month_starts(date(2021, 7, 1), date(2025, 6, 1)):
        last = (first + timedelta(days=32)).replace(day=1) - timedelta(days=1)
        year, period = fiscal_period(first)
        status = "L" if year < 2025 else "O" if period >= 11 else "C"
        rows.append((year, period, first, last, status))
    return rows_of("finance.fiscal_periods", "fiscal_year period_no start_dt end_dt status", rows)


def _budgets(rng: random.Random, hr: Hr, centers: Sequence[CostCenter]) -> TableRows:
    """Return budgets near what pay really costs, so that some are overrun and some are not."""
    home = {e.employee_id: e.department_id for e in hr.employees}
    pay: dict[tuple[int, int], Decimal] = {}
    for slip in hr.payslips:
        key = (fiscal_period(slip.pay_month)[0], home[slip.employee_id])
        pay[key] = pay.get(key, Decimal(0)) + slip.gross_amt + slip.bonus_amt
    rows: list[Row] = []
    for year in range(2022, 2026):
        seen: set[int] = set()
        for center in centers:
            if center.valid_to is not None and year > 2024:
                continue
            cost = float(pay.get((year, center.department_id), Decimal(0)))
            if center.department_id not in seen and cost:
                planned = money(round(cost * rng.uniform(0.9, 1.15), -3))
                rows.append((year, center.cost_center_id, "6100", planned))
            seen.add(center.department_id)
            for account, low, high in (
                ("6300", 20, 160),
                ("6400", 4, 60),
                ("6500", 50, 400),
                ("6900", 5, 40),
            ):
                if account == "6500" and center.name != "Marketing":
                    continue
                planned = money(rng.randint(low, high) * 1000)
                rows.append((year, center.cost_center_id, account, planned))
    return rows_of("finance.budgets", "fiscal_year cost_center_id account_no amt", rows)


def build_invoices(
    rng: random.Random, crm: Crm, sales: Sales
) -> tuple[tuple[TableRows, ...], list[Invoice], set[int]]:
    """Return receivables: the tables, the invoices and the orders that are paid in full."""
    last_shipped: dict[int, date] = {}
    for shipment in sales.shipments:
        last_shipped[shipment.order_id] = shipment.shipped_dt
    drafts: list[tuple[date, int, int | None, Decimal]] = []
    for order in sales.orders:
        if order.status == "SHP":
            billed = min(TODAY, last_shipped[order.order_id] + timedelta(days=rng.randint(0, 3)))
            drafts.append((billed, order.customer_id, order.order_id, order.amt))
    fleets = [c for c in crm.customers if c.segment_code in ("FLT", "PUB") and c.status == "ACT"]
    for _ in range(240):
        billed = day_between(rng, START, TODAY)
        amount = money(rng.randint(3, 60) * 95)
        drafts.append((billed, rng.choice(fleets).customer_id, None, amount))
    drafts.sort(key=lambda d: (d[0], d[1], d[2] or 0))
    slowness = [rng.choice((-4, -1, 0, 2, 6, 14, 30)) for _ in crm.customers]
    invoices: list[Invoice] = []
    payments: list[Row] = []
    paid: set[int] = set()
    for billed, customer_id, order_id, net in drafts:
        customer = crm.customers[customer_id - 1]
        due = billed + timedelta(days=NET_DAYS[customer.term_code])
        tax = money(float(net) * (0.19 if customer.type == "D" else 0))
        total = net + tax
        invoice_id = len(invoices) + 1
        status = "OPN"
        settled = due + timedelta(days=slowness[customer_id - 1] + rng.randint(-3, 12))
        settled = max(settled, billed + timedelta(days=1))
        fate = rng.random()
        received: list[tuple[date, Decimal]] = []
        if fate < 0.008:
            status = "VOI"
        elif fate < 0.03:
            settled = TODAY + timedelta(days=1)  # a customer who does not pay
        elif fate < 0.09:
            share = money(float(total) * rng.choice((0.3, 0.5, 0.7)))
            received = [(settled, share)]
            if rng.random() < 0.7:
                later = settled + timedelta(days=rng.randint(20, 70))
                received.append((later, total - share))
        else:
            received = [(settled, total)]
        received = [r for r in received if r[0] <= TODAY]
        for arrived, amount in received:
            method = rng.choices(("TRF", "DD", "CRD", "CHQ"), (62, 22, 13, 3))[0]
            payments.append((len(payments) + 1, invoice_id, arrived, amount, method))
        if received:
            whole = sum((r[1] for r in received), Decimal(0)) == total
            status = "PD" if whole else "PRT"
        if status == "PD" and order_id is not None:
            paid.add(order_id)
        late = (TODAY - due).days
        dunning = min(3, max(0, late // 21)) if status in ("OPN", "PRT") else 0
        invoices.append(
            Invoice(
                invoice_id,
                f"INV-{billed.year}-{invoice_id:05d}",
                customer_id,
                order_id,
                billed,
                due,
                customer.term_code,
                net,
                tax,
                total,
                status,
                dunning,
            )
        )
    columns = "payment_id invoice_id received_dt amt method"
    tables = (
        TableRows("finance.invoices", Invoice._fields, invoices),
        rows_of("finance.customer_payments", columns, payments),
    )
    return tables, invoices, paid
