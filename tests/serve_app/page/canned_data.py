"""Tables, definitions, and conversations of the fake service."""

from __future__ import annotations

from typing import Any

from tests.serve_app.page.canned import DATABASE
from tests.serve_app.page.canned_trace import WINNER

_TABLES = [
    ("crm.customers", "Companies and people that buy from us", 14),
    ("hr.departments", "Departments, a tree. A department belongs to exactly one region.", 6),
    ("hr.employees", "Everybody who works or worked here", 15),
    ("inventory.product_categories", "Product lines and their groups, a tree", 4),
    ("inventory.products", "What we make and sell", 16),
    ("sales.order_lines", "Lines of customer orders: product, quantity, price", 8),
    ("sales.orders", "Orders of customers, with status and net value", 12),
    ("sales.returns", "Goods that came back", 9),
    ("sales.shipments", "Deliveries of orders", 10),
]


def list_tables(database: str, search: str, after: str, limit: int) -> dict[str, Any]:
    """A page of the 400 tables of the first database, or of the one table of any other."""
    rows = _TABLES + [
        (f"archive.year_{1900 + at}", f"Closed bookings, part {at}", 9) for at in range(391)
    ]
    if database != DATABASE:
        rows = [("main.customers", "Who buys in the shop", 5)]
    found = [row for row in rows if search.lower() in f"{row[0]} {row[1]}".lower()]
    start = int(after or 0)
    page = found[start : start + limit]
    following = start + len(page)
    return {
        "tables": [
            {
                "table": name,
                "comment": comment,
                "gloss": "",
                "columns": columns,
                "module": name.split(".")[0],
                "database_schema": name.split(".")[0],
            }
            for name, comment, columns in page
        ],
        "next": str(following) if following < len(found) else None,
        "total": len(found),
        "schemas": len({row[0].split(".")[0] for row in rows}),
    }


def describe_table(name: str) -> dict[str, Any]:
    """A table in detail; the same for all but the name."""

    def column(name: str, type_: str, comment: str, **more: Any) -> dict[str, Any]:
        usual = {
            "nullable": False,
            "gloss": "",
            "is_key": False,
            "values": [],
            "values_truncated": False,
            "refers_to": None,
            "is_masked": False,
        }
        return {"name": name, "type": type_, "comment": comment} | usual | more

    comment = next((about for table, about, _ in _TABLES if table == name), "")
    return {
        "table": name,
        "kind": "table",
        "comment": comment,
        "gloss": "",
        "columns": [
            column("order_id", "integer", "Key of the order", is_key=True),
            column("customer_id", "integer", "Who ordered", refers_to="crm.customers.customer_id"),
            column("order_dt", "date", "Day of the order"),
            column(
                "status",
                "text",
                "OPN = open, CNF = confirmed, SHP = shipped, INV = invoiced, CXL = cancelled",
                values=["OPN", "CNF", "SHP", "INV", "CXL"],
            ),
            column("amt", "numeric(14,2)", "Net value, EUR", nullable=True),
            column("credit_note", "text", "Remarks on credit", nullable=True, is_masked=True),
        ],
        "primary_key": ["order_id"],
        "keys": [
            {
                "columns": ["customer_id"],
                "table": "crm.customers",
                "target_columns": ["customer_id"],
                "is_inferred": False,
            }
        ],
        "neighbours": [
            {
                "table": "crm.customers",
                "columns": "orders.customer_id = customers.customer_id",
                "direction": "out",
            },
            {
                "table": "hr.employees",
                "columns": "orders.sold_by = employees.employee_id",
                "direction": "out",
            },
            {
                "table": "sales.order_lines",
                "columns": "orders.order_id = order_lines.order_id",
                "direction": "in",
            },
            {
                "table": "sales.returns",
                "columns": "orders.order_id = returns.order_id",
                "direction": "in",
            },
            {
                "table": "sales.shipments",
                "columns": "orders.order_id = shipments.order_id",
                "direction": "in",
            },
        ],
        "neighbours_total": 5,
    }


def _define(
    name: str, description: str, expression: str, condition: str = "", *synonyms: str
) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "expression": expression,
        "condition": condition,
        "tables": ["sales.orders"],
        "synonyms": list(synonyms),
    }


DEFINITIONS = {
    "measures": [
        _define(
            "order intake",
            "Net value of customer orders that were not cancelled, EUR",
            "sum(orders.amt)",
            "orders.status <> 'CXL'",
        ),
        _define(
            "revenue",
            "Invoiced amounts without tax, without void invoices, EUR",
            "sum(invoices.net_amt)",
            "invoices.status <> 'VOI'",
            "turnover",
            "net sales",
        ),
    ],
    "dimensions": [_define("product line", "The group of products", "product_categories.name")],
    "filters": [
        _define(
            "open orders", "Orders that are not yet shipped", "", "orders.status IN ('OPN', 'CNF')"
        )
    ],
}

PERSON: dict[str, Any] = {
    "name": "Ann Becker",
    "roles": ["region_manager", "analyst"],
    "databases": [DATABASE, "shop"],
    "sign_in": "cookie",
    "limits": [
        {"name": "requests_per_minute", "most": 60, "used": 4, "resets_in_s": 41},
        {"name": "questions_at_once", "most": 4, "used": 1, "resets_in_s": None},
        {"name": "tokens_per_day", "most": 2_000_000, "used": 412_000, "resets_in_s": 31_000},
        {"name": "rows_per_day", "most": 500_000, "used": 61_240, "resets_in_s": 31_000},
    ],
    "rights": {"review": True},
    "max_rows": 10_000,
    "hidden": [
        {
            "database": DATABASE,
            "table": "sales.orders",
            "rows": "region_id IN (3, 4)",
            "some_rows": True,
            "columns": ["credit_note"],
            "reason": "Your role region_manager may read only some rows of this table, and not the "
            "column credit_note in every row.",
        },
        {
            "database": DATABASE,
            "table": "hr.employees",
            "rows": "",
            "some_rows": True,
            "columns": ["salary", "fte_pct"],
            "reason": "Your role region_manager may read only some rows of this table, and not the "
            "columns salary and fte_pct in every row.",
        },
    ],
}


def build_conversation(
    id_: str, title: str, now: str, questions: list[tuple[str, str]]
) -> dict[str, Any]:
    """A conversation of these questions and their outcomes."""
    return {
        "id": id_,
        "title": title,
        "database": DATABASE,
        "asked_at": now,
        "questions": len(questions),
        "starred": False,
        "turns": [
            {
                "id": str(number),
                "question": question,
                "rewritten": None,
                "database": DATABASE,
                "outcome": outcome,
                "sql": WINNER if outcome == "answered" else "",
                "is_withheld": False,
                "asked_at": now,
                "confidence": 0.86 if outcome == "answered" else None,
                "quorum": True if outcome == "answered" else None,
                "origin": "sample" if outcome == "answered" else "",
            }
            for number, (question, outcome) in enumerate(questions, start=1)
        ],
    }


def build_conversations(now: str) -> list[dict[str, Any]]:
    """Conversations with their turns, the latest first."""
    titles = [
        "Which product line earned most last year?",
        "Cancelled orders by month",
        "Best customers of 2025",
        "Headcount by department",
        "Refunds by reason",
    ]
    return [
        build_conversation(
            f"c{number}",
            title,
            now,
            [
                (title, "answered"),
                ("And only in Germany?", "answered" if number != 2 else "clarify"),
            ],
        )
        | {"starred": number == 1}
        for number, title in enumerate(titles)
    ]


def build_review(now: str) -> list[dict[str, Any]]:
    """Answers that were called wrong."""
    wrong = WINNER.replace("o.status <> 'CXL' AND ", "")
    return [
        {
            "id": str(number),
            "database": DATABASE,
            "question": question,
            "sql": wrong,
            "correction": WINNER if number == 0 else "",
            "given_by": "Jon Weber",
            "given_at": now,
            "state": "open",
            "reviewed_by": "",
            "corrected_by": "" if number else "Jon Weber",
        }
        for number, question in enumerate(
            ["Which product line earned most last year?", "How much did we earn with helmets?"]
        )
    ]
