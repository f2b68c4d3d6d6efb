"""Which results vote together: equal ones, and others though they are shown differently.

On databases of random rows, each query has a reference that shows the key, the label and the
figures of every row. Whatever is taken for one reading must have equal references, row by row.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import combinations

import pytest
from hypothesis import assume, event, given, settings, strategies as st

from nl2sql.catalog import Catalog
from nl2sql.types import Assessment, Candidate, Display, Plan, ResultSet
from ranking.display import read_display
from ranking.query import read_query
from ranking.vote.groups import group_assessments
from ranking.vote.order import vote
from repair.derive import derive_queries
from repair.derive.outputs import shown_names
from tests.fakes import build_assessment, build_context, build_key, build_result, build_table

CATALOG = Catalog(
    "shop",
    (
        build_table("main.departments", "id integer", "name text", key=("id",)),
        build_table(
            "main.staff",
            "id integer",
            "name text",
            "department_id integer",
            "boss_id integer",
            "pay real",
            key=("id",),
        ),
    ),
    (
        build_key("main.staff(department_id)", "main.departments(id)"),
        build_key("main.staff(boss_id)", "main.staff(id)"),
    ),
    ("main",),
    "sqlite",
)
# Without the primary key of departments, whose keys may then be repeated.
KEYLESS = replace(CATALOG, tables=(replace(CATALOG.tables[0], primary_key=()), *CATALOG.tables[1:]))

# Query → its reference: key, label, figures. A label stands for a row where there is no key.
JOINED = "staff s JOIN departments d ON s.department_id = d.id"
BY_KEY = f"SELECT d.id, d.name, {{}} FROM {JOINED} GROUP BY d.id"
ALL_KEYS = (
    "SELECT s.department_id, (SELECT name FROM departments d WHERE d.id = s.department_id), {} "
    "FROM staff s GROUP BY s.department_id"
)
BY_LABEL = f"SELECT NULL, d.name, {{}} FROM {JOINED} GROUP BY d.name"
QUERIES: dict[str, str] = {
    "SELECT department_id, COUNT(*) FROM staff GROUP BY department_id": ALL_KEYS.format("COUNT(*)"),
    f"SELECT d.name, COUNT(*) FROM {JOINED} GROUP BY d.id": BY_KEY.format("COUNT(*)"),
    f"SELECT d.id, d.name, COUNT(*) FROM {JOINED} GROUP BY d.id": BY_KEY.format("COUNT(*)"),
    f"SELECT s.department_id, d.name, COUNT(*) FROM {JOINED} GROUP BY d.id": BY_KEY.format(
        "COUNT(*)"
    ),
    f"SELECT d.name, COUNT(*) FROM {JOINED} GROUP BY d.name": BY_LABEL.format("COUNT(*)"),
    "SELECT department_id, AVG(pay) FROM staff GROUP BY department_id": ALL_KEYS.format("AVG(pay)"),
    f"SELECT d.name, ROUND(AVG(pay), 2) FROM {JOINED} GROUP BY d.id": BY_KEY.format("AVG(pay)"),
    f"SELECT d.name, AVG(pay) FROM {JOINED} GROUP BY d.name": BY_LABEL.format("AVG(pay)"),
    "SELECT department_id, MAX(pay) FROM staff GROUP BY department_id": ALL_KEYS.format("MAX(pay)"),
    "SELECT id FROM staff WHERE pay > 21": "SELECT id, name, 0 FROM staff WHERE pay > 21",
    "SELECT name FROM staff WHERE pay > 21": "SELECT id, name, 0 FROM staff WHERE pay > 21",
    "SELECT id, name FROM staff WHERE pay >= 22": "SELECT id, name, 0 FROM staff WHERE pay >= 22",
    f"SELECT d.name FROM {JOINED} GROUP BY d.id ORDER BY COUNT(*) DESC, d.id LIMIT 2": (
        BY_KEY.format("COUNT(*)") + " ORDER BY COUNT(*) DESC, d.id LIMIT 2"
    ),
    f"SELECT d.id, COUNT(*) AS n FROM {JOINED} GROUP BY d.id ORDER BY n DESC, d.id LIMIT 2": (
        BY_KEY.format("COUNT(*)") + " ORDER BY COUNT(*) DESC, d.id LIMIT 2"
    ),
    "SELECT boss_id FROM staff WHERE pay > 21": (
        "SELECT boss_id, (SELECT b.name FROM staff b WHERE b.id = s.boss_id), 0 FROM staff s "
        "WHERE pay > 21"
    ),
}

# Keys, figures and the names of departments and staff have no value in common, so that results are
# seldom equal by chance, which the vote accepts.
DEPARTMENTS = st.sampled_from(["Sales", "IT", "HR"])
STAFF = st.tuples(
    st.sampled_from(["Müller", "Ada", "Bob"]),
    st.none() | st.integers(101, 104),  # 104 is no department: SQLite enforces no keys
    st.none() | st.integers(501, 506),
    st.sampled_from([21.0, 22.0, 22.004, 22.006, 23.5]),
)


def run(database: sqlite3.Connection, sql: str) -> tuple[tuple[object, ...], ...]:
    return tuple(database.execute(sql).fetchall())


def build(
    departments: Sequence[str], staff: Sequence[tuple[object, ...]], repeated: str = ""
) -> sqlite3.Connection:
    """The tables; ``repeated`` is the name of a second department with the first's key."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE departments (id, name TEXT)")
    database.execute(
        "CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, department_id, boss_id, pay REAL)"
    )
    database.executemany("INSERT INTO departments VALUES (?, ?)", enumerate(departments, 101))
    if repeated:
        database.execute("INSERT INTO departments VALUES (101, ?)", (repeated,))
    rows = [(key, *values) for key, values in enumerate(staff, 501)]
    database.executemany("INSERT INTO staff VALUES (?, ?, ?, ?, ?)", rows)
    return database


def assess(
    database: sqlite3.Connection, queries: Sequence[str], catalog: Catalog = CATALOG
) -> list[Assessment]:
    """The queries and what is derived from them, run."""
    derived = derive_queries(
        queries,
        "staff and departments",
        build_context(catalog, dialect="sqlite"),
        Plan(),
        most=99,
        rules=(shown_names,),
    )
    candidates = [Candidate(f"c{at}", sql) for at, sql in enumerate(queries, 1)]
    candidates += [
        Candidate(f"d{at}", each.sql, 0, "derived", "", f"c{each.parent + 1}", each.rule)
        for at, each in enumerate(derived, 1)
    ]
    assessments = []
    for candidate in candidates:
        query = read_query(candidate.sql, "sqlite", catalog.tables, catalog.foreign_keys)
        rows = run(database, candidate.sql)
        width = len(rows[0]) if rows else 1
        columns = tuple(f"c{at}" for at in range(width))
        assessments.append(
            replace(
                build_assessment(candidate.id),
                candidate=candidate,
                result=ResultSet(columns, ("",) * width, rows, False, 1.0),
                display=read_display(query) if query else Display(),
            )
        )
    return group_assessments(assessments)


def correspond(left: Sequence[tuple[object, ...]], right: Sequence[tuple[object, ...]]) -> bool:
    """True if the figures are equal by key, or by label where one has no key."""
    both = all(row[0] is not None for row in (*left, *right))

    def count(rows: Sequence[tuple[object, ...]]) -> Counter[tuple[object, ...]]:
        return Counter(
            tuple(
                round(v, 2) if isinstance(v, float) else v
                for v in (row[0] if both else row[1], *row[2:])
            )
            for row in rows
        )

    return count(left) == count(right)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(DEPARTMENTS, min_size=1, max_size=3),
    st.lists(STAFF, min_size=1, max_size=7),
    st.lists(st.sampled_from(list(QUERIES)), min_size=2, max_size=5, unique=True),
    st.just("") | DEPARTMENTS,
)
def test_whatever_is_one_reading_has_equal_figures_by_the_same_things(
    departments: list[str], staff: list[tuple[object, ...]], queries: list[str], repeated: str
) -> None:
    database = build(departments, staff, repeated)
    assessed = assess(database, queries, KEYLESS if repeated else CATALOG)
    texts = {each.candidate.id: each.candidate.sql for each in assessed}
    references = {
        each.candidate.id: run(
            database, QUERIES[texts.get(each.candidate.derived_from, texts[each.candidate.id])]
        )
        for each in assessed
    }
    groups = {each.candidate.id: each.group for each in assessed}
    # With other figures, a derived query has another reference than its original.
    known = [
        each
        for each in assessed
        if groups.get(each.candidate.derived_from, each.group) == each.group
    ]
    pairs = [
        (left, right, correspond(references[left.candidate.id], references[right.candidate.id]))
        for left, right in combinations(known, 2)
        if left.group == right.group
    ]
    assume(all(equal for left, right, equal in pairs if left.form == right.form))
    for left, right, equal in pairs:
        event("equal" if left.form == right.form else "joined")
        assert equal, (left.candidate.sql, right.candidate.sql)


PLAIN = build(
    ["Sales", "IT"], [("Ada", 101, None, 1.234), ("Bob", 101, 501, 2.0), ("Cyd", 102, 501, 4.0)]
)
TWINS = build(
    ["Müller", "Müller"], [("A", 101, None, 1.0), ("B", 101, 501, 1.0), ("C", 102, 501, 1.0)]
)
LOST = build(["Sales", "IT"], [("A", 101, None, 1.0), ("B", 109, 501, 1.0), ("C", 102, 501, 1.0)])
KEYS = "SELECT department_id, COUNT(*) FROM staff GROUP BY department_id"
LABELS = f"SELECT d.name, COUNT(*) FROM {JOINED} GROUP BY d.id"
BOTH = f"SELECT d.id, d.name, COUNT(*) FROM {JOINED} GROUP BY d.id"
GROUPED_LABELS = f"SELECT d.name, COUNT(*) FROM {JOINED} GROUP BY d.name"
RANKED = f"SELECT {{}} FROM {JOINED} GROUP BY d.id ORDER BY {{}} DESC LIMIT 1"
BY_COUNT = RANKED.format("d.name, COUNT(*) AS n", "n")


@pytest.mark.parametrize(
    ("database", "queries", "readings"),
    [
        (PLAIN, (KEYS, LABELS), [0, 0]),
        (PLAIN, (KEYS, GROUPED_LABELS, BOTH), [0, 0, 0]),
        (PLAIN, (BOTH, LABELS), [0, 0]),
        (TWINS, (KEYS, LABELS), [0, 0]),
        (TWINS, (KEYS, GROUPED_LABELS), [0, 1]),
        (LOST, (KEYS, LABELS), [0, 1]),
        (PLAIN, (KEYS, KEYS.replace("COUNT(*)", "SUM(pay)")), [0, 1]),
        (PLAIN, ("SELECT AVG(pay) FROM staff", "SELECT ROUND(AVG(pay), 2) FROM staff"), [0, 0]),
        (PLAIN, ("SELECT AVG(pay) FROM staff", "SELECT ROUND(AVG(pay)) FROM staff"), [0, 1]),
        (PLAIN, ("SELECT 1e15 + 0.5", "SELECT ROUND(pay, 15) FROM staff"), [0, 1]),
        (PLAIN, ("SELECT name FROM staff", "SELECT * FROM staff"), [0, 0]),
        (PLAIN, ("SELECT name FROM staff", "SELECT name, pay FROM staff WHERE pay > 2"), [0, 1]),
        (PLAIN, tuple(f"SELECT name{more} FROM staff" for more in ("", ", id", ", pay")), [0] * 3),
        # The names of staff are no form of their bosses, though one query shows both.
        (
            PLAIN,
            tuple(f"SELECT {shown} FROM staff" for shown in ("boss_id", "name", "boss_id, name")),
            [0, 1, 2],
        ),
        # Figures of nobody.
        (PLAIN, (LABELS, LABELS.replace("d.name, ", "")), [0, 1]),
        (PLAIN, (RANKED.format("d.name", "COUNT(*)"), BY_COUNT), [0, 0]),
        (
            PLAIN,
            (
                RANKED.format("d.id", "COUNT(*)"),
                RANKED.format("d.id, d.name, COUNT(*)", "3"),
                RANKED.format("d.name", "COUNT(*)"),
                BY_COUNT,
            ),
            [0, 0, 0, 0],
        ),
        (
            PLAIN,
            (
                RANKED.format("d.name", "COUNT(*)"),
                BY_COUNT,
                RANKED.format("d.name, SUM(s.id)", "SUM(s.id)"),
            ),
            [0, 1, 2],
        ),
        (PLAIN, (LABELS, LABELS.replace(", COUNT(*)", "")), [0, 1]),
    ],
)
def test_a_reading(
    database: sqlite3.Connection, queries: tuple[str, ...], readings: object
) -> None:
    found = assess(database, queries)
    assert [each.group for each in found if each.candidate.samples] == readings


def test_labels_of_two_results_by_keys_join_neither() -> None:
    """The same names with the same figures, of different people."""
    shown = Display(shown=("people.id", "people.name", ""))
    assessments = [
        build_assessment("c1", rows=[(1, "Müller", 3)], display=shown),
        build_assessment("c2", rows=[(2, "Müller", 3)], display=shown),
        build_assessment("c3", rows=[("Müller", 3)], display=Display(("people.name", ""))),
    ]
    assert [each.group for each in group_assessments(assessments)] == [0, 1, 2]
    assert [each.group for each in group_assessments(assessments[1:])] == [0, 0]


def test_a_row_without_a_key_has_no_label() -> None:
    """It lacks both names of nobody, as it lacks the key."""
    keyed = build_assessment("c1", rows=[(1, 5), (None, 7)])
    named = build_assessment("d1", rows=[("Ada", "Li", 5), (None, None, 7)])
    derived = Candidate("d1", "SELECT 2", 0, "derived", derived_from="c1", rule="shown_names")
    lost = build_assessment("d1", rows=[("Ada", None, 5), (None, None, 7)])
    for labelled, joined in ((named, True), (lost, False)):
        pair = [keyed, replace(labelled, candidate=derived)]
        assert (len({each.group for each in group_assessments(pair)}) == 1) is joined


def test_rounded_figures_of_two_results_join_neither() -> None:
    rounded = build_assessment("c3", rows=[(Decimal("1.23"),)], display=Display(digits=2))
    one, two = build_assessment("c1", rows=[(1.2341,)]), build_assessment("c2", rows=[(1.2299,)])
    assert [each.group for each in group_assessments([one, two, rounded])] == [0, 1, 2]
    assert [each.group for each in group_assessments([one, rounded])] == [0, 0]


MONTHS = (dt.datetime(2024, 1, 1), 3), (dt.datetime(2024, 2, 1), 5)
NEXT_YEAR = tuple((month.replace(year=2025), count) for month, count in MONTHS)


@pytest.mark.parametrize(
    ("dialect", "sql", "rows"),
    [
        ("postgres", "DATE_TRUNC('month', day)::date", MONTHS),
        ("postgres", "TO_CHAR(day, 'YYYY-MM')", (("2024-01", 3), ("2024-02", 5))),
        ("postgres", "EXTRACT(MONTH FROM day)", ((Decimal(1), 3), (Decimal(2), 5))),
        (
            "postgres",
            "EXTRACT(YEAR FROM day), EXTRACT(MONTH FROM day)",
            ((2024, 1, 3), (2024, 2, 5)),
        ),
        ("sqlite", "STRFTIME('%Y-%m', day)", (("2024-01", 3), ("2024-02", 5))),
        ("sqlite", "STRFTIME('%m', day)", (("01", 3), ("02", 5))),
        ("duckdb", "MONTH(day)", ((1, 3), (2, 5))),
        ("duckdb", "DATE_TRUNC('month', day)", MONTHS),
    ],
)
def test_months_are_one_reading_in_any_form(
    dialect: str, sql: str, rows: Sequence[tuple[object, ...]]
) -> None:
    query = read_query(f"SELECT {sql}, COUNT(*) FROM staff GROUP BY 1", dialect)
    assert query is not None
    shown = build_assessment("c1", rows=rows, display=read_display(query))
    month = Display(periods=((0, "ym"),))
    others = [
        build_assessment("c2", rows=MONTHS, display=month),
        build_assessment("c3", rows=[(*MONTHS[0],), (MONTHS[1][0], 6)], display=month),
        build_assessment("c4", rows=[(1, 3), (2, 5)], display=Display(periods=((0, "m"),))),
    ]
    assert [each.group for each in group_assessments([shown, *others])] == [0, 0, 1, 0]


def test_months_of_two_years_join_no_month_without_a_year() -> None:
    month = Display(periods=((0, "ym"),))
    assessments = [
        build_assessment("c1", rows=MONTHS, display=month),
        build_assessment("c2", rows=NEXT_YEAR, display=month),
        build_assessment("c3", rows=[(1, 3), (2, 5)], display=Display(periods=((0, "m"),))),
        build_assessment("c4", rows=(*MONTHS, *NEXT_YEAR), display=month),
        build_assessment("c5", rows=[(1, 3), (2, 5)] * 2, display=Display(periods=((0, "m"),))),
    ]
    assert [each.group for each in group_assessments(assessments)] == [0, 1, 2, 3, 4]


def test_the_votes_of_all_forms_count_and_labels_are_shown_before_keys() -> None:
    assessments = assess(PLAIN, [KEYS, KEYS.replace("COUNT(*)", "SUM(pay)")])
    ranking = vote(assessments, 2)
    first = ranking.assessments[0]
    assert first.candidate.rule == "shown_names"
    assert first.votes == 1
    assert first.result is not None
    assert set(first.result.rows) == {("Sales", 2), ("IT", 1)}


# -- equal results ---------------------------------------------------------------------------------


def test_a_page_agrees_with_the_same_page_and_with_no_whole_result() -> None:
    results = (
        build_result((1,), (2,)),
        build_result((2,), (1,), truncated=True),
        build_result((1,), (2,), truncated=True),
    )
    assessments = [replace(build_assessment(), result=result) for result in results]
    assert [each.group for each in group_assessments(assessments)] == [0, 1, 1]
