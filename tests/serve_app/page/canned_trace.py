"""A trace as the page shows it: candidates of every kind, with votes, findings and repairs."""

from __future__ import annotations

from typing import Any

WINNER = (
    "SELECT c.name AS product_line, SUM(ol.amt) AS earned FROM sales.order_lines ol "
    "JOIN sales.orders o ON o.order_id = ol.order_id "
    "JOIN inventory.products p ON p.product_id = ol.product_id "
    "JOIN inventory.product_categories c ON c.category_id = p.category_id "
    "WHERE o.status <> 'CXL' AND o.order_dt BETWEEN DATE '2025-01-01' AND DATE '2025-12-31' "
    "GROUP BY c.name ORDER BY earned DESC"
)
PREDICATE = "sales.orders: region_id IN (3, 4)"


def build_candidate(name: str, sql: str, **values: Any) -> dict[str, Any]:
    """A candidate of the trace; ``values`` take the place of the usual ones."""
    usual: dict[str, Any] = {
        "id": name,
        "sql": sql,
        "origin": "sample",
        "repairs": "",
        "derived_from": "",
        "rule": "",
        "samples": 1,
        "variant": "short",
        "logprob": -0.21,
        "votes": 1,
        "weight": 1.0,
        "group": 1,
        "unrun": "",
        "guard": "passed",
        "violation": None,
        "guarded_sql": sql.replace(
            "sales.orders o", f"(SELECT * FROM sales.orders AS o WHERE {PREDICATE}) AS o"
        ),
        "predicates": [PREDICATE],
        "explain": {"cost": 1843.2, "rows": 8.0},
        "error": None,
        "findings": [],
        "score": {
            "total": 131.4,
            "terms": {
                "base": 100.0,
                "schema_adherence": 18.2,
                "group_by_matches": 12.5,
                "order_and_limit_match": 9.1,
                "words_unused": -8.4,
            },
            "strengths": {"base": 1.0, "schema_adherence": 1.0, "words_unused": 0.3},
        },
        "definitions": [],
        "rows": 8,
        "truncated": False,
        "ms": 14.2,
    }
    return usual | values


def build_trace() -> dict[str, Any]:
    """Candidates of every kind; their samples are eight, counted as the service counts them."""
    no_filter = WINNER.replace("o.status <> 'CXL' AND ", "")
    price = WINNER.replace("SUM(ol.amt)", "SUM(ol.qty * ol.unit_price)")
    score = {"total": 96.0, "terms": {"base": 100.0, "definition_used": -4.0}, "strengths": {}}
    candidates = [
        build_candidate(
            "c1", WINNER, samples=4, votes=5, weight=5.2, definitions=["product sales"]
        ),
        build_candidate(
            "c3",
            WINNER.replace(
                "BETWEEN DATE '2025-01-01' AND DATE '2025-12-31'", ">= DATE '2025-01-01'"
            ),
            votes=5,
            weight=5.2,
        ),
        build_candidate(
            "c2",
            no_filter,
            votes=1,
            group=2,
            weight=1.6,
            score=score,
            findings=[
                {
                    "rule": "measure_without_filter",
                    "severity": "warning",
                    "message": (
                        "`product sales` is defined without cancelled orders; this query "
                        "counts them."
                    ),
                }
            ],
        ),
        build_candidate("c5r", price, origin="repair", repairs="c5", group=3),
        build_candidate(
            "c4",
            "SELECT name, pg_sleep(10) FROM inventory.product_categories",
            votes=0,
            group=-1,
            guard="refused",
            violation={
                "code": "function_not_allowed",
                "message": "The function pg_sleep is not allowed.",
            },
            guarded_sql=None,
            predicates=[],
            explain=None,
            rows=None,
            ms=None,
        ),
        build_candidate(
            "c5",
            price.replace("ol.unit_price", "ol.price"),
            samples=0,
            votes=0,
            group=-1,
            rows=None,
            ms=None,
            explain=None,
            error={"sqlstate": "42703", "message": "column ol.price does not exist"},
        ),
        build_candidate(
            "c1d",
            f"{WINNER} LIMIT 1",
            origin="derived",
            derived_from="c1",
            rule="fewer_outputs",
            samples=0,
            votes=0,
            weight=0.4,
            group=4,
            rows=1,
        ),
        build_candidate(
            "c6",
            WINNER.replace("ol.amt", "ol.revenue"),
            origin="repair",
            repairs="c4",
            samples=0,
            votes=0,
            group=-1,
            guard="refused",
            violation={"code": "unknown_column", "message": "There is no column ol.revenue."},
            guarded_sql=None,
            predicates=[],
            explain=None,
            rows=None,
            ms=None,
        ),
    ]
    tables = [
        ("sales.order_lines", "hit", 1, 1),
        ("inventory.product_categories", "hit", 2, 4),
        ("inventory.products", "foreign_key", None, None),
        ("sales.orders", "foreign_key", None, 3),
    ]
    stages = [
        ("retrieve", 38, 0, 0),
        ("gate", 4, 0, 0),
        ("plan", 21, 0, 0),
        ("generate", 4210, 1970, 412),
        ("guard", 62, 0, 0),
        ("assess", 88, 0, 0),
        ("vote", 143, 0, 0),
        ("repair", 9, 0, 0),
    ]
    return {
        "k": 8,
        "samples": 8,
        "wanted": 8,
        "ended_early": False,
        "seed": 7,
        "principal": "ann",
        "pace": {
            "prompt_tokens_per_s": 612.0,
            "answer_tokens_per_s": 98.0,
            "sampling_timeout_ms": 60000,
        },
        "gate": "passed",
        "rewriting": "",
        "modules": [{"module": "sales", "confidence": 0.81}],
        "tables": [
            {
                "table": name,
                "via": via,
                "score": 0.03,
                "cosine": 0.5,
                "cosine_rank": cosine,
                "bm25_rank": bm25,
            }
            for name, via, bm25, cosine in tables
        ],
        "links": [
            {
                "phrase": "product line",
                "table": "inventory.product_categories",
                "column": "name",
                "score": 0.83,
                "method": "comment",
            }
        ],
        "linking": {"technique": "rules", "note": ""},
        "columns": {"sales.order_lines": ["order_id", "product_id", "qty", "unit_price", "amt"]},
        "values": [
            {
                "phrase": "bikes",
                "table": "inventory.product_categories",
                "column": "name",
                "value": "City bikes",
                "score": 0.74,
            }
        ],
        "definitions": [
            {
                "kind": "measure",
                "name": "product sales",
                "phrase": "earned",
                "expression": "sum(order_lines.amt)",
                "condition": "orders.status <> 'CXL'",
                "source": "semantics.yaml",
                "used": True,
            }
        ],
        "glosses": [["amt", "amount"]],
        "examples": [
            {
                "question": "Which carrier delivered the most shipments?",
                "sql": "SELECT name FROM sales.carriers LIMIT 1",
                "similarity": 0.52,
            }
        ],
        "join_skeleton": (
            "FROM sales.order_lines\nJOIN sales.orders ON orders.order_id = "
            "order_lines.order_id\nJOIN inventory.products ON products.product_id = "
            "order_lines.product_id\nJOIN inventory.product_categories ON "
            "product_categories.category_id = products.category_id"
        ),
        "inferred_joins": [],
        "draft_query": "",
        "left_out": [],
        "prompt": [
            {
                "role": "system",
                "content": "Write one PostgreSQL query that answers the question.\n",
            },
            {
                "role": "user",
                "content": (
                    "-- sales.order_lines(order_id, product_id, qty, unit_price, amt)\n"
                    "Question: Which product line earned most last year?"
                ),
            },
        ],
        "prompts": {},
        "features": {"agreement": 0.62, "margin": 0.38},
        "threshold": 0.42,
        "candidates": candidates,
        "repairs": [
            {
                "candidate": "c5",
                "cause": "unknown_column",
                "method": "autocorrect",
                "outcome": "fixed",
                "sql": price,
                "rules": ["nearest_column"],
                "error_class": "unknown_column",
                "attempt": 1,
                "risks": [],
            },
            {
                "candidate": "c4",
                "cause": "The function pg_sleep is not allowed.",
                "method": "model",
                "outcome": "failed",
                "sql": WINNER.replace("ol.amt", "ol.revenue"),
                "rules": [],
                "error_class": "function",
                "attempt": 1,
                "risks": [],
            },
        ],
        "stages": _build_stages(*stages),
    }


def build_verified_trace(sql: str) -> dict[str, Any]:
    """The process of a query that somebody gave: it is checked and run, and nothing is sampled."""
    given = build_candidate("c1", sql, origin="verified", samples=1, votes=1, weight=1.0)
    stages = [("retrieve", 38, 0, 0), ("guard", 21, 0, 0), ("assess", 18, 0, 0), ("vote", 43, 0, 0)]
    return build_trace() | {
        "samples": 1,
        "wanted": 0,
        "candidates": [given],
        "repairs": [],
        "prompt": [],
        "stages": _build_stages(*stages),
    }


def _build_stages(*stages: tuple[str, int, int, int]) -> list[dict[str, Any]]:
    return [
        {"stage": name, "ms": float(ms), "prompt_tokens": read, "completion_tokens": written}
        for name, ms, read, written in stages
    ]
