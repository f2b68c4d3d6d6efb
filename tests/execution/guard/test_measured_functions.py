"""What each function makes of a long text: as much again, a few bytes, or too much."""

from __future__ import annotations

import pytest

from execution.guard import value_sizes
from execution.guard.guard import guard_query
from execution.policies.access import open_access
from nl2sql.catalog import Catalog, Column, Table
from nl2sql.types import Violation
from tests.execution.guard.test_growth_glance import glance

# ``{}`` is a text; what types a function takes is no matter of the guard's.
KEEPING = {
    "postgres": """
        abs({}); any_value({}); array_remove({}, 'x'); array_sort({}); avg({}); bit_and({});
        bit_or({}); bit_xor({}); bool_and({}); bool_or({}); btrim({}); ceil({}); ceiling({});
        corr({}, 1); covar_pop({}, 1); covar_samp({}, 1); date({}); date_part('year', {});
        date_trunc('day', {}); every({}); extract(year FROM {});
        first_value({}) OVER (); floor({}); initcap({});
        lag({}) OVER (); last_value({}) OVER (); lead({}) OVER (); left({}, 5); lower({});
        ltrim({}); max({}); min({}); mod({}, 2); nth_value({}, 2) OVER (); ntile({}) OVER ();
        position('x' IN {}); reverse({}); right({}, 5); round({}); rtrim({}); sign({});
        split_part({}, ',', 1); sqrt({}); stddev({}); stddev_pop({}); stddev_samp({});
        substr({}, 2); substring({} FROM 2); sum({}); trim({}); trunc({}); upper({});
        var_pop({}); var_samp({}); variance({}); CASE WHEN true THEN {} END; {}::varchar
    """,
    "sqlite": """
        coalesce({}, 'x'); ifnull({}, 'x'); iif(1, {}, 'x'); total({}); date({}); nullif({}, 'x');
        lower({}); substr({}, 2); substring({}, 2); max({})
    """,
    "duckdb": """
        arbitrary({}); arg_max({}, 1); arg_min({}, 1); argmax({}, 1); argmin({}, 1);
        array_distinct({}); array_sort({}); datetrunc('day', {}); first({}); greatest({}, 'x');
        if(true, {}, 'x'); last({}); lcase({}); least({}, 'x'); list_distinct({}); list_sort({});
        max_by({}, 1); mean({}); median({}); min_by({}, 1); mode({}); nullif({}, 'x');
        substring({}, 2); trim({}); ucase({}); lower({})
    """,
}
SMALL = {
    "postgres": """
        array_length({}, 1); array_lower({}, 1); array_ndims({}); array_position({}, 'x');
        array_upper({}, 1); ascii({}); bit_length({}); cardinality({}); char_length({});
        character_length({}); count({}); json_array_length({}); json_typeof({});
        jsonb_array_length({}); jsonb_typeof({}); length({}); md5({}); num_nonnulls({});
        num_nulls({}); octet_length({}); regexp_count({}, 'x'); regexp_instr({}, 'x');
        strpos({}, 'x')
    """,
    "sqlite": "instr({}, 'x'); length({}); octet_length({}); typeof({}); unicode({})",
    "duckdb": """
        instr({}, 'x'); len({}); ord({}); strlen({}); typeof({}); unicode({}); {} = 'x';
        NOT {}; {} AND true
    """,
}
# Give one row for each piece of their argument.
SPREADING = {
    "postgres": """
        generate_subscripts({}, 1); json_array_elements({}); json_array_elements_text({});
        json_each({}); json_each_text({}); json_object_keys({}); jsonb_array_elements({});
        jsonb_array_elements_text({}); jsonb_each({}); jsonb_each_text({}); jsonb_object_keys({});
        regexp_split_to_table({}, ','); string_to_table({}, ','); unnest({})
    """,
    "sqlite": "json_each({}); json_tree({})",
    "duckdb": "json_each({}); json_tree({}); unnest({})",
}
# Hold their first argument against their second.
COMPARING = {
    "postgres": """
        btrim({}, {}); ltrim({}, {}); rtrim({}, {}); split_part({}, {}, 1);
        string_to_array({}, {}); strpos({}, {}); translate({}, {}, '')
    """,
    "sqlite": """
        glob({}, {}); instr({}, {}); json_patch({}, {}); like({}, {}); ltrim({}, {});
        rtrim({}, {}); trim({}, {})
    """,
    "duckdb": """
        array_has_all({}, {}); array_has_any({}, {}); array_intersect({}, {}); contains({}, {});
        instr({}, {}); json_contains({}, {}); list_has_all({}, {}); list_has_any({}, {});
        list_intersect({}, {}); ltrim({}, {}); rtrim({}, {}); split({}, {}); str_split({}, {});
        string_split({}, {}); strpos({}, {}); translate({}, {}, ''); trim({}, {})
    """,
}


def list_calls(calls: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (dialect, call.strip()) for dialect, texts in calls.items() for call in texts.split(";")
    ]


def judge(sql: str, dialect: str) -> str:
    """The violation's code; empty for a query that passes."""
    table = Table("main", "t", (Column("a", "text"),))
    verdict = guard_query(sql, open_access(Catalog("shop", (table,), dialect=dialect)))
    return verdict.code if isinstance(verdict, Violation) else ""


def lengthen(call: str, dialect: str, length: int) -> str:
    """A query that calls with so many letters, and makes 3,000 of each that comes back."""
    value = call.replace("{}", f"'{'x' * length}'")
    if dialect == "sqlite":
        return f"SELECT replace({value}, 'x', '{'y' * 3_000}')"
    return f"SELECT repeat({value}, 3000)"


@pytest.mark.parametrize(("dialect", "call"), list_calls(KEEPING))
def test_what_keeps_its_argument_is_as_long_as_that(dialect: str, call: str) -> None:
    assert judge(lengthen(call, dialect, 3_000), dialect) == ""
    assert judge(lengthen(call, dialect, 4_000), dialect) == "too_much_text"


@pytest.mark.parametrize(("dialect", "call"), list_calls(SMALL))
def test_what_gives_a_number_is_small(dialect: str, call: str) -> None:
    assert judge(lengthen(call, dialect, 10_000), dialect) == ""


@pytest.mark.parametrize(("dialect", "call"), list_calls(SPREADING))
def test_what_takes_a_text_apart_makes_a_row_of_each_letter(dialect: str, call: str) -> None:
    gather = "group_concat" if dialect == "sqlite" else "string_agg"
    sql = f"SELECT {gather}('{'x' * 9_000}', '') FROM {{}} AS s"
    for length, code in ((1_000, ""), (9_000, "too_much_text")):
        assert judge(sql.format(call.replace("{}", f"'{'y' * length}'")), dialect) == code


@pytest.mark.parametrize(("dialect", "call"), list_calls(COMPARING))
def test_what_searches_takes_the_product_of_both(dialect: str, call: str) -> None:
    called = call.replace("{}", "a", 1).replace("{}", "b", 1)
    for length, code in ((1_000, ""), (9_000, "too_much_text")):
        values = f"'{'x' * length}' AS a, '{'y' * length}' AS b"
        sql = f"SELECT {called}, {called} FROM (SELECT {values}) AS t"
        assert judge(sql, dialect) == code


@pytest.mark.parametrize(
    "text",
    [
        "concat('1e', 100000)",
        "concat_ws('', '1e', 100000)",
        "format('1e%s', 100000)",
        "overlay('1x' PLACING 'e100000' FROM 2)",
        "replace('1x', 'x', 'e100000')",
        "'1e' || 100000",
    ],
)
def test_a_text_in_parts_may_be_a_long_number(text: str) -> None:
    quotients = ", ".join(["x / x"] * 150)
    sql = f"SELECT {quotients} FROM (SELECT ({text})::{{}} AS x) AS t"
    assert judge(sql.format("numeric"), "postgres") == "too_much_text"
    assert judge(sql.format("integer"), "postgres") == ""


@pytest.mark.parametrize("name", ["percent_rank", "cume_dist", "row_number", "rank", "dense_rank"])
def test_ranks_are_small_at_a_glance(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(value_sizes, "_kinds", {})
    assert glance(f"SELECT {', '.join([f'{name}() OVER (ORDER BY id)'] * 18)} FROM orders")


FORMATS = {
    # A text, what stands behind it → the violation.
    "'%5s|%-9s', 'x', 'y'": "",
    "'%19993s', 'x'": "",
    "'%19994s', 'x'": "too_much_text",
    "'%000000009s', 'x'": "",
    "'%0000000009s', 'x'": "too_much_text",
    f"'%{'9' * 5000}s', 'x'": "too_much_text",
    "'%*s', 100000000, 'x'": "too_much_text",
    "'%1$*2$s', 'x', 100000000": "too_much_text",
    "100, 'x'": "too_much_text",
    "a, 'x'": "too_much_text",
    "": "too_much_text",
}


@pytest.mark.parametrize(
    ("arguments", "code"), FORMATS.items(), ids=[format_[:20] for format_ in FORMATS]
)
def test_a_format_tells_how_long_a_text_it_makes(arguments: str, code: str) -> None:
    assert judge(f"SELECT format({arguments}) FROM main.t", "postgres") == code


def test_a_width_in_braces_may_be_no_argument() -> None:
    assert judge("SELECT format('{:9}', 'x')", "duckdb") == ""
    assert judge("SELECT format('{:{}}', 'x', 100000000)", "duckdb") == "too_much_text"


@pytest.mark.parametrize(
    ("dialect", "call"),
    [
        ("postgres", "format('%999s', 'x')"),
        ("duckdb", "format('{:999}', 'x')"),
        ("duckdb", "printf('%999d', 1)"),
    ],
)
def test_what_a_format_makes_is_as_long_as_its_width(dialect: str, call: str) -> None:
    assert judge(f"SELECT repeat({call}, 9000)", dialect) == ""
    assert judge(f"SELECT repeat({call}, 10000)", dialect) == "too_much_text"
