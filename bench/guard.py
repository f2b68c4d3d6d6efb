"""Measures the time of the guard for a query, and of its security barrier in the database.

``python -m bench.guard`` prints, on the demo ERP: the time that the guard takes over the
gold queries and all their mutations, without a policy and as each role; the time of guard and
EXPLAIN together over the gold queries; and the time that PostgreSQL takes for the gold queries as
they are, filtered, and filtered behind the barrier. ``--short`` leaves out the first and the last.
"""

from __future__ import annotations

import asyncio
import math
import random
import statistics
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from execution.guard.guard import guard_query
from execution.policies.access import Access, CompiledPolicy, open_access
from execution.policies.policy_file import load_policy
from execution.postgres.database import PostgresDatabase
from nl2sql.catalog import Catalog
from nl2sql.settings import load_settings
from nl2sql.types import Explained, GuardedQuery, Principal, ResultSet, Violation
from serve_app.operations.preparation import (
    build_wiring,
    load_demo_databases,
    start_embedded_server,
)
from serve_app.reporting import Silence
from tests.oracle.corpus import build_gold_queries
from tests.oracle.demo import read_demo_golds

_ATTRIBUTES = (("department_id", 3), ("region_ids", (1, 2)))
_ROLES = ("analyst", "department_member", "regional_manager", "public_reporting")
_MOST_QUERIES = 2000
_REPEATS = 7
_MOST_ROWS = 100_000


def main() -> None:
    """Prints both tables."""
    settings = load_settings(Path("quorumsql.yaml"))
    name = settings.default_database
    server = start_embedded_server(settings)
    assert server is not None
    load_demo_databases(settings, server, Silence())
    wiring = build_wiring(settings, server)
    catalog = wiring.source(name).read_catalog()
    file = settings.databases[name].policy
    assert file is not None
    behind = CompiledPolicy(load_policy(file), catalog)
    golds = read_demo_golds()
    short = "--short" in sys.argv
    if not short:
        _print_guard_times(catalog, behind, golds)
    database = wiring.build_databases()[name]
    assert isinstance(database, PostgresDatabase)
    bare = CompiledPolicy(load_policy(file), catalog, barrier=False)
    queries = [sql for _, sql in golds]
    with asyncio.Runner() as runner:
        runner.run(_print_explain_times(database, catalog, behind, queries))
        if not short:
            runner.run(_print_barrier_cost(database, catalog, behind, bare, queries))
    server.stop()


def _print_guard_times(
    catalog: Catalog, compiled: CompiledPolicy, golds: Iterable[tuple[str, str]]
) -> None:
    corpus = [query.sql for query in build_gold_queries(catalog, golds)]
    random.Random(0).shuffle(corpus)
    corpus = corpus[:_MOST_QUERIES]
    print(f"The guard, milliseconds a query, {len(corpus)} queries")
    print(f"{'':20} {'p50':>6} {'p95':>6} {'p99':>6} {'passed':>8}")
    accesses = {"no policy": open_access(catalog)}
    accesses |= {role: _find_access(compiled, role) for role in _ROLES}
    for label, access in accesses.items():
        times, passed = [], 0
        for sql in corpus:
            start = time.perf_counter()
            verdict = guard_query(sql, access)
            times.append((time.perf_counter() - start) * 1000)
            passed += isinstance(verdict, GuardedQuery)
        cuts = statistics.quantiles(times, n=100)
        print(f"{label:20} {cuts[49]:6.2f} {cuts[94]:6.2f} {cuts[98]:6.2f} {passed:8}")


async def _print_explain_times(
    database: PostgresDatabase, catalog: Catalog, compiled: CompiledPolicy, golds: list[str]
) -> None:
    print(f"\nGuard and EXPLAIN, milliseconds a query, the gold queries {_REPEATS} times")
    print(f"{'':20} {'guard p50':>10} {'p95':>6} {'EXPLAIN p50':>12} {'p95':>6} {'queries':>8}")
    accesses = {"no policy": open_access(catalog)}
    accesses |= {role: _find_access(compiled, role) for role in _ROLES}
    for label, access in accesses.items():
        guarding, explaining, passed = [], [], 0
        for turn in range(_REPEATS + 1):
            for sql in golds:
                start = time.perf_counter()
                verdict = guard_query(sql, access)
                between = time.perf_counter()
                if isinstance(verdict, Violation):
                    continue
                explained = await database.explain(verdict)
                end = time.perf_counter()
                assert isinstance(explained, Explained), explained
                if turn:
                    guarding.append((between - start) * 1000)
                    explaining.append((end - between) * 1000)
                passed += not turn
        cuts = [statistics.quantiles(times, n=20) for times in (guarding, explaining)]
        print(
            f"{label:20} {cuts[0][9]:10.2f} {cuts[0][18]:6.2f} {cuts[1][9]:12.2f} "
            f"{cuts[1][18]:6.2f} {passed:8}"
        )
    await database.close()


async def _print_barrier_cost(
    database: PostgresDatabase,
    catalog: Catalog,
    behind: CompiledPolicy,
    bare: CompiledPolicy,
    golds: list[str],
) -> None:
    print(f"\nThe barrier, milliseconds in the database, median of {_REPEATS}, summed over queries")
    print(f"{'':20} {'queries':>8} {'plain':>8} {'filtered':>9} {'behind':>8}  slowest behind")
    for role in _ROLES:
        ways = [_find_access(bare, role), _find_access(behind, role)]
        verdicts = [(sql, [guard_query(sql, access) for access in ways]) for sql in golds]
        seen = [(sql, pair) for sql, pair in verdicts if not isinstance(pair[1], Violation)]
        totals = [0.0, 0.0, 0.0]
        slowest = (0.0, 0.0, "")
        failed = 0
        for sql, pair in seen:
            queries = [guard_query(sql, open_access(catalog)), *pair]
            medians = [await _time(database, query) for query in queries]
            if math.inf in medians:
                # With fewer rows, a gold query may divide by zero.
                failed += 1
                continue
            totals = [total + median for total, median in zip(totals, medians, strict=True)]
            slowest = max(slowest, (medians[2], medians[1], sql[:50]))
        plain, filtered, barred = totals
        print(
            f"{role:20} {len(seen) - failed:8} {plain:8.1f} {filtered:9.1f} {barred:8.1f}  "
            f"{slowest[0]:.1f} ({slowest[1]:.1f} without) {slowest[2]}"
        )
    await database.close()


async def _time(database: PostgresDatabase, query: GuardedQuery | Violation) -> float:
    """Milliseconds; infinite if the query fails."""
    assert isinstance(query, GuardedQuery)
    times = []
    for _ in range(_REPEATS):
        result = await database.execute(query, _MOST_ROWS)
        if not isinstance(result, ResultSet):
            return math.inf
        times.append(result.ms)
    return statistics.median(times)


def _find_access(compiled: CompiledPolicy, role: str) -> Access:
    access = compiled.access(Principal("benchmark", (role,), _ATTRIBUTES))
    assert not isinstance(access, Violation), access
    return access


if __name__ == "__main__":
    main()
