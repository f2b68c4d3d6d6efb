"""Module finance, second half: the general ledger, posted from what the other modules booked.

Each posting balances: its debits equal its credits.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal

from data.demo_erp.rows.assets import Assets
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
from data.demo_erp.rows.finance import Invoice, Reference, fiscal_period
from data.demo_erp.rows.hr import Hr
from data.demo_erp.rows.procurement import Procurement

ZERO = Decimal("0.00")
Line = tuple[str, int | None, Decimal, Decimal]
"""Account, cost centre, debit, credit."""

Posting = tuple[date, str, str, list[Line]]
"""Day, source, memo, lines."""


def build_ledger(
    rng: random.Random,
    hr: Hr,
    reference: Reference,
    invoices: Sequence[Invoice],
    procurement: Procurement,
    assets: Assets,
) -> tuple[TableRows, ...]:
    """Return journal entries and journal lines."""
    center = {c.department_id: c.cost_center_id for c in reversed(reference.cost_centers)}
    postings = _payroll(hr, center) + _receivables(invoices) + _payables(procurement)
    postings += _write_offs(assets, center) + _manual(rng, list(center.values()))
    postings.sort(key=lambda p: (p[0], p[1]))
    clerks = hr.staff("FIN", "FIN-AR", "FIN-AP")
    entries: list[Row] = []
    lines: list[Row] = []

    def post(posting: Posting, reversed_id: int | None) -> None:
        day, source, memo, items = posting
        key = len(entries) + 1
        year, period = fiscal_period(day)
        clerk = None
        if source in ("MAN", "AP"):
            clerk = rng.choice([c for c in clerks if c.works_on(day)]).employee_id
        entries.append((key, year, period, day, source, clerk, reversed_id, memo))
        for number, (account, center_id, debit, credit) in enumerate(items, 1):
            lines.append((key, number, account, center_id, debit, credit))

    for posting in postings:
        post(posting, None)
        day, source, memo, items = posting
        if source == "MAN" and rng.random() < 0.06:
            swapped = [(account, c, credit, debit) for account, c, debit, credit in items]
            later = min(TODAY, day + timedelta(days=rng.randint(1, 12)))
            post((later, source, f"Reversal: {memo}", swapped), len(entries))
    return (
        rows_of(
            "finance.journal_entries",
            "journal_id fiscal_year period_no posted_dt source_code posted_by "
            "reversed_journal_id memo",
            entries,
        ),
        rows_of(
            "finance.journal_lines",
            "journal_id line_no account_no cost_center_id debit_amt credit_amt",
            lines,
        ),
    )


def _month_end(first: date) -> date:
    return (first + timedelta(days=32)).replace(day=1) - timedelta(days=1)


def _payroll(hr: Hr, center: dict[int, int]) -> list[Posting]:
    home = {e.employee_id: e.department_id for e in hr.employees}
    costs: dict[date, dict[int, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for slip in hr.payslips:
        key = center[home[slip.employee_id]]
        costs[slip.pay_month][key] += slip.gross_amt + slip.bonus_amt
    postings: list[Posting] = []
    for month, by_center in sorted(costs.items()):
        lines: list[Line] = [("6100", key, amt, ZERO) for key, amt in sorted(by_center.items())]
        lines.append(("2300", None, ZERO, sum(by_center.values(), ZERO)))
        postings.append((_month_end(month), "PAY", f"Payroll {month:%Y-%m}", lines))
    return postings


def _receivables(invoices: Sequence[Invoice]) -> list[Posting]:
    sums: dict[date, list[Decimal]] = defaultdict(lambda: [ZERO, ZERO, ZERO])
    for invoice in invoices:
        if invoice.status == "VOI":
            continue
        month = sums[invoice.dt.replace(day=1)]
        month[0 if invoice.order_id is not None else 1] += invoice.net_amt
        month[2] += invoice.tax_amt
    postings: list[Posting] = []
    for first, (goods, services, tax) in sorted(sums.items()):
        lines: list[Line] = [
            ("1200", None, goods + services + tax, ZERO),
            ("4100", None, ZERO, goods),
            ("4200", None, ZERO, services),
            ("2200", None, ZERO, tax),
        ]
        postings.append((_month_end(first), "AR", f"Invoices {first:%Y-%m}", lines))
    return postings


def _payables(procurement: Procurement) -> list[Posting]:
    postings: list[Posting] = []
    for bill in procurement.bills:
        account = "5100" if bill.cost_center_id is None else "6300"
        lines: list[Line] = [
            (account, bill.cost_center_id, bill.amt, ZERO),
            ("2100", None, ZERO, bill.amt),
        ]
        postings.append((bill.dt, "AP", f"Bill {bill.bill_ref}", lines))
    return postings


def _write_offs(assets: Assets, center: dict[int, int]) -> list[Posting]:
    sums: dict[date, dict[int, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for department_id, first, amount in assets.depreciation:
        sums[first][center[department_id]] += amount
    postings: list[Posting] = []
    for first, by_center in sorted(sums.items()):
        lines: list[Line] = [("6200", key, amt, ZERO) for key, amt in sorted(by_center.items())]
        lines.append(("1100", None, ZERO, sum(by_center.values(), ZERO)))
        last = _month_end(first + timedelta(days=62))
        postings.append((last, "DEP", f"Depreciation {first:%Y-%m}", lines))
    return postings


def _manual(rng: random.Random, centers: list[int]) -> list[Posting]:
    memos = ("Travel advance", "Accrual", "Insurance", "Donation", "Fair fees", "Bank charges")
    postings: list[Posting] = []
    for month in month_starts(START, TODAY):
        for _ in range(rng.randint(3, 8)):
            amount = money(rng.lognormvariate(7.4, 1.0))
            account = rng.choice(("6400", "6500", "6900", "6900"))
            lines: list[Line] = [
                (account, rng.choice(centers), amount, ZERO),
                ("1800", None, ZERO, amount),
            ]
            postings.append(
                (day_between(rng, month, _month_end(month)), "MAN", rng.choice(memos), lines)
            )
    return postings
