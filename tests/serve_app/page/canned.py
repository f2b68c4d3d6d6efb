"""Answers of the fake service, one of every outcome; checked against the contract's models."""

from __future__ import annotations

from typing import Any

from quorumsql.contract import read_response
from ranking.query_words import describe_apart
from tests.serve_app.page.canned_trace import WINNER, build_trace, build_verified_trace

DATABASE = "demo_erp"
LINES = [
    ("Trekking bikes", "1284310.50"),
    ("City bikes", "1102750.00"),
    ("E-bikes", "986420.75"),
    ("Racing bikes", "741900.20"),
    ("Children's bikes", "402118.00"),
    ("Helmets", "158330.40"),
    ("Lights", "97215.35"),
    ("Pumps and tools", "41877.90"),
]
SUGGESTIONS = [
    "Which product line earned most last year?",
    "How many orders were cancelled in each month of 2025?",
    "Who are our best customers?",
    "How many employees work in each department?",
    "Which carrier delivered the most shipments?",
    "What was refunded for goods that came back, by reason?",
]
NAMES = [
    "Ana Lima",
    "Björn Åkesson",
    "陳大文",
    "שרה לוי",
    "محمد علي",
    "Zoë d'Arcy",
    "O'Brien & Sons",
    "Ōkubo 株式会社",
]


def _answered(
    question: str, columns: list[tuple[str, str]], rows: list[list[Any]], **more: Any
) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "outcome": "answered",
        "question": question,
        "database": DATABASE,
        "session": None,
        "rewritten": None,
        "notes": [],
        "trace": build_trace(),
        "sql": WINNER,
        "confidence": 0.86,
        "quorum": True,
        "text": "",
        "text_source": "rule",
        "columns": [{"name": name, "type": type_} for name, type_ in columns],
        "rows": rows,
        "truncated": False,
        "cut": [],
    }
    answer |= more
    return answer | {"description": describe_apart([answer["sql"]], "postgres")[0]}


def _build_orders(count: int) -> list[list[Any]]:
    statuses = ["OPN", "CNF", "SHP", "INV", "CXL"]
    return [
        [
            100_000 + at,
            NAMES[at % len(NAMES)],
            f"2025-{at % 12 + 1:02d}-{at % 28 + 1:02d}",
            f"{(at * 7919 % 900_000) / 100:.2f}",
            statuses[at % 5],
            at % 3 == 0,
            None if at % 9 == 0 else f"Order {at} of the year",
        ]
        for at in range(count)
    ]


ORDER_COLUMNS = [
    ("order_id", "int4"),
    ("customer", "text"),
    ("order_dt", "date"),
    ("amt", "numeric"),
    ("status", "text"),
    ("is_paid", "bool"),
    ("note", "text"),
]


def _list_customers(count: int, figure: str) -> dict[str, Any]:
    """The first rows of an interpretation, with a figure of each customer."""
    return {
        "columns": [{"name": "name", "type": "text"}, {"name": figure, "type": "int8"}],
        "rows": [[f"Customer {number}", 100 - number] for number in range(1, count + 1)],
        "truncated": False,
        "cut": [],
    }


def build_answer(question: str) -> dict[str, Any]:
    """The answer to a question, by the words in it."""
    words = question.lower()
    base: dict[str, Any] = {
        "question": question,
        "database": DATABASE,
        "session": None,
        "rewritten": None,
        "notes": [],
        "trace": build_trace(),
    }
    if "best customers" in words:
        answer = base | {
            "outcome": "clarify",
            "reason": "The attempts read “best” in different ways, and none has a quorum.",
            "confidence": 0.31,
            "interpretations": [
                {
                    "sql": (
                        "SELECT name, SUM(amt) AS earned FROM sales.orders JOIN "
                        "crm.customers USING (customer_id) GROUP BY name ORDER BY earned "
                        "DESC LIMIT 10"
                    ),
                    "description": (
                        "sorted by the sum of amt, highest first. The same in both: "
                        "shows name; of customers and orders; only 10 rows."
                    ),
                    "share": 0.5,
                    **_list_customers(12, "earned"),
                },
                {
                    "sql": (
                        "SELECT name, COUNT(*) AS orders FROM sales.orders JOIN "
                        "crm.customers USING (customer_id) GROUP BY name ORDER BY orders "
                        "DESC LIMIT 10"
                    ),
                    "description": (
                        "sorted by the number of rows, highest first. The same in both: "
                        "shows name; of customers and orders; only 10 rows."
                    ),
                    "share": 0.375,
                    **_list_customers(12, "orders"),
                },
            ],
        }
    elif "weather" in words:
        answer = base | {
            "outcome": "refused",
            "code": "off_topic",
            "reason": "No table of this database holds anything about weather.",
            "suggestions": SUGGESTIONS[:3],
        }
    elif "delete" in words:
        answer = base | {
            "outcome": "refused",
            "code": "read_only",
            "reason": "The question asks to change data.",
            "suggestions": SUGGESTIONS[:2],
        }
    elif "salary" in words:
        answer = base | {
            "outcome": "refused",
            "code": "not_permitted",
            "reason": "You may not read `hr.employees.salary`.",
            "suggestions": [],
        }
    elif "impossible" in words:
        answer = base | {
            "outcome": "failed",
            "reason": "Every query that was written failed in the database.",
            "attempts": [
                {
                    "sql": "SELECT price FROM sales.order_lines",
                    "origin": "sample",
                    "error": "column `price` does not exist",
                    "error_class": "unknown_column",
                    "suggestion": "Name the column as it is called: unit_price.",
                }
            ],
        }
    elif "all orders" in words:
        answer = _answered(question, ORDER_COLUMNS, _build_orders(10_000), text="10,000 orders.")
    elif "each month" in words:
        rows = [
            [f"2025-{month:02d}-01", 20 + month * 7 % 13, 4 + month * 5 % 9]
            for month in range(1, 13)
        ]
        answer = _answered(
            question,
            [("month", "date"), ("orders", "int8"), ("cancelled", "int8")],
            rows,
            text="Cancellations were highest in September 2025.",
            confidence=0.74,
        )
    elif "how many" in words:
        answer = _answered(
            question, [("count", "int8")], [[302]], text="Answer: 302.", confidence=0.93
        )
    elif "unsure" in words:
        answer = _answered(
            question,
            [("name", "text"), ("n", "int8")],
            [["a", 1], ["b", 2]],
            text="Two groups.",
            confidence=0.38,
            quorum=False,
            truncated=True,
        )
    else:
        rows = [[name, amount] for name, amount in LINES]
        answer = _answered(
            question,
            [("product_line", "text"), ("earned", "numeric")],
            rows,
            text="Trekking bikes earned most in 2025: 1,284,310.50 EUR.",
        )
    read_response(answer)
    return answer


def build_verified(question: str, sql: str) -> dict[str, Any]:
    """The answer to a question whose query somebody gave."""
    given = {"by": "Ana Lima", "at": "2026-03-01T08:00:00+00:00", "source": "feedback"}
    answer = _answered(
        question,
        [("product_line", "text"), ("earned", "numeric")],
        [[name, amount] for name, amount in LINES[:3]],
        text="3 rows with product line and earned.",
        sql=sql,
        confidence=1.0,
        quorum=False,
        verified=given,
        trace=build_verified_trace(sql),
    )
    read_response(answer)
    return answer


def list_events(answer: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The events before an answer."""
    events: list[tuple[str, dict[str, Any]]] = []

    def stage(name: str, done: int = 0, total: int = 0, **tokens: int) -> None:
        usual = {"prompt_tokens_read": 0, "prompt_tokens": 0, "answer_tokens": 0}
        events.append(("stage", {"stage": name, "done": done, "total": total} | usual | tokens))

    for name in ("retrieve", "gate", "plan"):
        stage(name)
    for done in range(5):
        stage(
            "generate",
            done,
            4,
            prompt_tokens=1970,
            prompt_tokens_read=min(1970, done * 985),
            answer_tokens=done * 96,
        )
    stage("guard", 4, 4)
    events.append(
        ("candidate", {"id": "c1", "sql": WINNER, "samples": 3, "status": "accepted", "reason": ""})
    )
    events.append(
        (
            "candidate",
            {
                "id": "c4",
                "sql": "SELECT pg_sleep(10)",
                "samples": 1,
                "status": "refused",
                "reason": "pg_sleep",
            },
        )
    )
    stage("assess", 1, 2)
    stage("vote")
    events.append(
        ("vote", {"samples": 8, "leader": WINNER, "votes": 5, "quorum": True, "settled": True})
    )
    stage("execute")
    if answer["outcome"] == "answered":
        events.append(
            ("rows", {key: answer[key] for key in ("sql", "columns", "rows", "truncated")})
        )
        stage("words")
    return events
