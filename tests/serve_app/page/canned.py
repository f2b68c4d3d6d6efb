"""Answers, tables and conversations of the fake service, from ``canned.yaml``.

The answers are checked against the contract's models.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from quorumsql.contract import read_response
from ranking.query_words import describe_apart

DATABASE = "demo_erp"


@cache
def _read() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
    return read


def pick(name: str) -> Any:
    """A part of the file, of which the caller may change the uppermost level."""
    part = _read()[name]
    return part.copy() if isinstance(part, (dict, list)) else part


WINNER: str = pick("winner")


def _build_candidate(own: dict[str, Any]) -> dict[str, Any]:
    """A candidate of the trace, with the usual values for those that it does not have."""
    own = dict(own)
    sql = own.pop("sql", WINNER)
    for old, new in own.pop("changes", {}).items():
        sql = sql.replace(old, new)
    kind = pick(own.pop("is")) if "is" in own else {}
    filtered = "(SELECT * FROM sales.orders AS o WHERE region_id IN (3, 4)) AS o"
    guarded = sql.replace("sales.orders o", filtered)
    return {**pick("usual"), "sql": sql, "guarded_sql": guarded, **kind, **own}


def build_trace() -> dict[str, Any]:
    """Candidates of every kind; their samples are eight, counted as the service counts them."""
    return {**pick("trace"), "candidates": [_build_candidate(own) for own in pick("candidates")]}


def build_answer(question: str) -> dict[str, Any]:
    """The answer to a question, by the words in it."""
    answer: dict[str, Any] = {
        "question": question, "database": DATABASE, "session": None, "rewritten": None,
        "notes": [], "trace": build_trace(),
    }  # fmt: skip
    words = question.lower()
    known = (content for part, content in pick("answers").items() if part in words)
    content = _list_orders() if "all orders" in words else next(known, pick("lines"))
    if content["outcome"] == "answered":
        answer |= {
            "sql": WINNER, "confidence": 0.86, "quorum": True, "text_source": "rule",
            "truncated": False, "cut": [], "description": describe_apart([WINNER], "postgres")[0],
        }  # fmt: skip
    answer |= content
    if content["outcome"] == "clarify":
        rows = {
            "columns": [{"name": "name", "type": "text"}, {"name": "figure", "type": "int8"}],
            "rows": [[f"Customer {number}", 100 - number] for number in range(1, 13)],
            "truncated": False,
            "cut": [],
        }
        answer["interpretations"] = [one | rows for one in content["interpretations"]]
    read_response(answer)
    return answer


def _list_orders() -> dict[str, Any]:
    names = pick("customers")
    rows = [
        [
            100_000 + at,
            names[at % len(names)],
            f"2025-{at % 12 + 1:02d}-{at % 28 + 1:02d}",
            f"{(at * 7919 % 900_000) / 100:.2f}",
            ("OPN", "CNF", "SHP", "INV", "CXL")[at % 5],
            at % 3 == 0,
            None if at % 9 == 0 else f"Order {at} of the year",
        ]
        for at in range(10_000)
    ]
    return {
        "outcome": "answered",
        "columns": pick("orders"),
        "rows": rows,
        "text": "10,000 orders.",
    }


def build_verified(question: str, sql: str) -> dict[str, Any]:
    """The answer to a question whose query somebody gave: nothing is sampled."""
    given = {"by": "Ana Lima", "at": "2026-03-01T08:00:00+00:00", "source": "feedback"}
    given["label"] = "Verified by Ana Lima on 2026-03-01"
    candidate = _build_candidate({"id": "c1", "sql": sql, "origin": "verified"})
    stages = [one for one in pick("trace")["stages"] if one["stage"] not in ("generate", "repair")]
    none = {"samples": 1, "wanted": 0, "candidates": [candidate], "repairs": [], "prompts": {}}
    answer = build_answer("") | {
        "question": question, "sql": sql, "confidence": 1.0, "quorum": False,
        "verified": given, "trace": build_trace() | none | {"stages": stages},
    }  # fmt: skip
    read_response(answer)
    return answer


def list_events(answer: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The events before an answer."""

    def stage(name: str, done: int = 0, total: int = 0) -> tuple[str, dict[str, Any]]:
        tokens = {"prompt_tokens_read": done * 985, "prompt_tokens": 1970, "answer_tokens": done}
        return "stage", {"stage": name, "done": done, "total": total, **tokens}

    def candidate(name: str, sql: str, status: str, reason: str) -> tuple[str, dict[str, Any]]:
        told = {"id": name, "sql": sql, "samples": 1, "status": status, "reason": reason}
        return "candidate", told

    vote = {"samples": 8, "leader": WINNER, "votes": 5, "quorum": True, "settled": True}
    events = [
        *map(stage, ("retrieve", "gate", "plan")),
        *(stage("generate", done, 2) for done in range(3)),
        stage("guard", 4, 4),
        candidate("c1", WINNER, "accepted", ""),
        candidate("c4", "SELECT pg_sleep(10)", "refused", "pg_sleep"),
        *map(stage, ("assess", "vote")),
        ("vote", vote),
        stage("execute"),
    ]
    if answer["outcome"] == "answered":
        told = {key: answer[key] for key in ("sql", "columns", "rows", "truncated")}
        events += [("rows", told), stage("words")]
    return events


def list_tables(database: str, search: str, after: str, limit: int) -> dict[str, Any]:
    """A page of the 400 tables of the first database, or of the one table of any other."""
    tables = {"main.customers": "Who buys in the shop"}
    if database == DATABASE:
        known = pick("tables")
        parts = range(400 - len(known))
        tables = known | {
            f"archive.year_{1900 + at}": f"Closed bookings, part {at}" for at in parts
        }
    found = [
        {
            "table": name, "comment": comment, "gloss": "", "columns": 9,
            "module": name.split(".")[0], "database_schema": name.split(".")[0],
        }
        for name, comment in tables.items()
        if search.lower() in f"{name} {comment}".lower()
    ]  # fmt: skip
    start = int(after or 0)
    following = start + limit
    return {
        "tables": found[start:following],
        "next": str(following) if following < len(found) else None,
        "total": len(found),
        "schemas": len({name.split(".")[0] for name in tables}),
    }


def describe_table(name: str) -> dict[str, Any]:
    """A table in detail; the same for all but the name."""
    table = pick("table")
    columns = [pick("column") | column for column in table["columns"]]
    return {"table": name, **table, "columns": columns}


def build_conversation(
    id_: str, title: str, now: str, questions: list[tuple[str, str]]
) -> dict[str, Any]:
    """A conversation of these questions and their outcomes."""
    sure = {"sql": WINNER, "confidence": 0.86, "quorum": True, "origin": "sample"}
    none = {"sql": "", "confidence": None, "quorum": None, "origin": ""}
    turns = [
        {
            "id": str(number), "question": question, "rewritten": None, "database": DATABASE,
            "outcome": outcome, "is_withheld": False, "asked_at": now,
            **(sure if outcome == "answered" else none),
        }
        for number, (question, outcome) in enumerate(questions, start=1)
    ]  # fmt: skip
    return {
        "id": id_, "title": title, "database": DATABASE, "asked_at": now,
        "questions": len(questions), "turns": turns,
    }  # fmt: skip


def build_conversations(now: str) -> list[dict[str, Any]]:
    """Conversations with their turns, the latest first."""
    more = ("And only in Germany?", "answered")
    return [
        build_conversation(f"c{number}", title, now, [(title, "answered"), more])
        for number, title in enumerate(pick("conversations"))
    ]


def build_review(now: str) -> list[dict[str, Any]]:
    """Answers that were called wrong, the first with a correction."""
    wrong = WINNER.replace("o.status <> 'CXL' AND ", "")
    return [
        {
            "id": str(number), "database": DATABASE, "question": question, "sql": wrong,
            "correction": "" if number else WINNER, "given_by": "Jon Weber", "given_at": now,
            "state": "open", "reviewed_by": "", "corrected_by": "" if number else "Jon Weber",
            "kind": "wrong" if number else "corrected", "cause": "other" if number else "value",
            "fix": "Add what the question says to the synonyms of the value status: CXL.",
            "name": "" if number else "really",
            "expression": "" if number else "orders.status <> 'CXL'",
        }
        for number, question in enumerate(pick("review"))
    ]  # fmt: skip
