"""Each lint rule over queries that it finds fault with and queries that it leaves alone."""

from __future__ import annotations

import pytest

from ranking.lint import RULES, lint_query

CASES: dict[str, list[tuple[str, bool]]] = {
    "cartesian_join": [
        ("SELECT 1 FROM a, b", True),
        ("SELECT 1 FROM a CROSS JOIN b", True),
        ("SELECT 1 FROM a, b WHERE a.x = 1", True),
        ("SELECT 1 FROM a, b, c WHERE a.x = b.x", True),
        ("SELECT 1 FROM (SELECT 1 FROM a, b) AS s", True),
        ("SELECT 1 FROM a, b WHERE a.x = b.x", False),
        ("SELECT 1 FROM a, b WHERE x = y", False),
        ("SELECT 1 FROM a JOIN b ON a.x = b.x", False),
        ("SELECT 1 FROM a JOIN b USING (x)", False),
        ("SELECT 1 FROM a NATURAL JOIN b", False),
        ("SELECT 1 FROM a CROSS JOIN LATERAL (SELECT 1 WHERE a.x = 1) AS l", False),
        ("SELECT 1 FROM a", False),
    ],
    "null_comparison": [
        ("SELECT 1 FROM a WHERE x = NULL", True),
        ("SELECT 1 FROM a WHERE x <> NULL", True),
        ("SELECT 1 FROM a WHERE NULL = x", True),
        ("SELECT x = NULL FROM a", True),
        ("SELECT 1 FROM a WHERE x IS NULL", False),
        ("SELECT 1 FROM a WHERE x IS NOT NULL", False),
        ("SELECT 1 FROM a WHERE x IS DISTINCT FROM NULL", False),
        ("SELECT coalesce(x, NULL) FROM a", False),
    ],
    "limit_without_order": [
        ("SELECT x FROM a LIMIT 3", True),
        ("SELECT x FROM a FETCH FIRST 3 ROWS ONLY", True),
        ("SELECT x FROM a UNION SELECT x FROM b LIMIT 3", True),
        ("SELECT x FROM a ORDER BY x LIMIT 3", False),
        ("SELECT x FROM (SELECT x FROM a LIMIT 3) AS s", False),
        ("SELECT x FROM a", False),
    ],
    "select_star": [
        ("SELECT * FROM a", True),
        ("SELECT a.* FROM a", True),
        ("SELECT x, * FROM a", True),
        ("SELECT count(*) FROM a", False),
        ("SELECT x FROM (SELECT * FROM a) AS s", False),
        ("SELECT x FROM a WHERE EXISTS (SELECT * FROM b)", False),
    ],
}

SEVERITIES = {
    "cartesian_join": "error",
    "null_comparison": "error",
    "limit_without_order": "warning",
    "select_star": "warning",
}


@pytest.mark.parametrize(
    ("rule", "sql", "found"),
    [
        pytest.param(rule, sql, found, id=f"{rule}: {sql}")
        for rule, cases in CASES.items()
        for sql, found in cases
    ],
)
def test_a_rule_finds_its_fault_and_no_other(rule: str, sql: str, found: bool) -> None:
    assert (rule in {finding.rule for finding in lint_query(sql, "postgres")}) is found


def test_every_rule_has_cases_and_a_severity() -> None:
    assert [rule.__name__ for rule in RULES] == list(CASES)
    for rule, cases in CASES.items():
        sql = next(sql for sql, found in cases if found)
        severities = {each.rule: each.severity for each in lint_query(sql, "postgres")}
        assert severities[rule] == SEVERITIES[rule]


def test_findings_come_errors_first() -> None:
    findings = lint_query("SELECT * FROM a, b WHERE a.x = NULL LIMIT 3", "postgres")
    assert [finding.rule for finding in findings] == list(SEVERITIES)


@pytest.mark.parametrize("sql", ["SELECT (", "SELECT 'a", f"SELECT {'(' * 2000}1{')' * 2000}"])
def test_what_does_not_parse_has_no_findings(sql: str) -> None:
    assert lint_query(sql, "postgres") == ()
