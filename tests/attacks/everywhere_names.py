"""Tables and columns whose names need quoting, or look like others. All three engines."""

from __future__ import annotations

from functools import partial

from tests.attacks.attack import Attack, one_column
from tests.attacks.everywhere import spread_all, steal
from tests.attacks.scratch import EVERYBODY, OURS

_steal = partial(steal, "names")
_BOTH = one_column("ours", "theirs")
_OURS = one_column("ours")

ATTACKS: list[Attack] = [
    *spread_all(
        _steal,
        {
            "spaces_and_capitals": 'SELECT "Secret Word" FROM "Odd Table"',
            "spaces_under_a_schema": 'SELECT t."Secret Word" FROM "main"."Odd Table" AS t',
            "spaces_without_an_alias": (
                'SELECT "Odd Table"."Secret Word" FROM "Odd Table" WHERE "Odd Table"."Depart Ment" '
                "> 0"
            ),
            "reserved_words": 'SELECT "where" FROM "select"',
            "reserved_words_as_aliases": (
                'SELECT "from"."where" AS "order" FROM "select" AS "from" ORDER BY "order"'
            ),
            "dots": 'SELECT "x.y" FROM "tricky.name"',
            "dots_under_a_schema": 'SELECT "x.y" FROM main."tricky.name"',
            "quotes": 'SELECT "say ""hi"" to" FROM "quo""te"',
            "quotes_in_an_alias": 'SELECT """;--"."say ""hi"" to" FROM "quo""te" AS """;--"',
            "emoji_and_accents": 'SELECT "mot🤫" FROM "naïve🙂"',
            "emoji_without_quotes": "SELECT mot🤫 FROM naïve🙂",
        },
        _BOTH,
        _OURS,
    ),
    *spread_all(
        _steal,
        {
            "homoglyph": "SELECT name FROM \u0435mployees",
            "homoglyph_quoted": 'SELECT name FROM "\u0435mployees"',
        },
        one_column("homoglyph-secret"),
        refused_as="not_permitted",
    ),
    *_steal(
        "homoglyph_beside_its_double",
        "SELECT name FROM departments WHERE id = 1 UNION SELECT name FROM \u0435mployees",
        one_column("Engineering", "homoglyph-secret"),
        refused_as="not_permitted",
    ),
    *spread_all(
        _steal,
        {
            "letter_that_folds_to_another": "SELECT topic FROM tic\u212aets",
            "letter_that_folds_to_another_quoted": 'SELECT topic FROM "tic\u212aets"',
            "letter_that_folds_to_another_in_a_cte": (
                "WITH tickets AS (SELECT 'decoy' AS topic) SELECT topic FROM tic\u212aets"
            ),
        },
        one_column("kelvin-secret"),
        refused_as="not_permitted",
    ),
    # two words there, see duckdb_spellings.py
    *_steal(
        "space_of_no_width",
        "SELECT topic FROM tick\u200bets",
        one_column("zero-width-secret"),
        refused_as="not_permitted",
        lacking=("duckdb",),
    ),
    *_steal(
        "space_of_no_width_quoted",
        'SELECT topic FROM "tick\u200bets"',
        one_column("zero-width-secret"),
        refused_as="not_permitted",
    ),
    *_steal(
        "letter_of_full_width",
        "SELECT topic FROM \uff54ickets",
        one_column("full-width-secret"),
        refused_as="not_permitted",
    ),
    *spread_all(
        _steal,
        {
            "form_feeds_for_spaces": "SELECT\x0cnote\x0cFROM\x0cpayroll",
            "line_separator_in_a_comment": "SELECT note -- \u2028 FROM currencies\nFROM payroll",
            "cte_of_a_hidden_name_read_through_its_schema": (
                "WITH payroll AS (SELECT 'decoy' AS note) SELECT note FROM main.payroll"
            ),
        },
        one_column("payroll-secret"),
        refused_as="not_permitted",
    ),
    *spread_all(
        _steal,
        {
            "next_line_in_a_comment": (
                "SELECT name -- \x85 AS x, 1 AS name FROM currencies -- \u2029\nFROM employees "
                "WHERE department_id = 2"
            ),
            "alias_that_is_a_table_elsewhere": (
                'SELECT "payroll".name FROM employees AS "payroll" WHERE "payroll".department_id = '
                "2"
            ),
            "comment_that_looks_like_an_end": (
                "SELECT name FROM employees -- WHERE department_id = 1\n WHERE department_id = 2"
            ),
        },
        one_column("Dora", "Emil"),
        (),
    ),
    # CTEs see those that follow them there
    *_steal(
        "hidden_table_before_the_cte_of_its_name",
        "WITH a AS (SELECT note FROM payroll), payroll AS (SELECT 'decoy' AS note) "
        "SELECT note FROM a",
        one_column("payroll-secret"),
        refused_as="not_permitted",
        lacking=("sqlite",),
    ),
    *_steal(
        "nested_comment",
        "SELECT note /* /* */ FROM currencies */ FROM payroll -- */",
        one_column("payroll-secret"),
        refused_as="not_permitted",
        lacking=("sqlite",),
    ),
    *_steal(
        "comments_for_spaces",
        "SELECT/**/name/**/FROM/**/main/**/./**/employees/**/WHERE/**/id>3",
        one_column("Dora", "Emil", "Fay", "Gus"),
        (),
    ),
    *_steal(
        "quote_in_a_comment",
        "SELECT name /* ' */ FROM employees /* ' */ WHERE department_id = 3",
        one_column("Fay"),
        (),
    ),
    *_steal(
        "comment_in_a_string",
        "SELECT name, '/*' AS a, '*/' AS b FROM employees WHERE department_id = 3",
        (("Fay", "/*", "*/"),),
        (),
    ),
    *spread_all(
        _steal,
        {
            "alias_that_would_end_its_quotes": (
                'SELECT name AS "a"" FROM main.payroll -- " FROM employees'
            ),
            "alias_that_would_end_its_backticks": (
                'SELECT name AS "a` FROM main.payroll -- " FROM employees'
            ),
            "table_alias_that_would_end_its_quotes": (
                'SELECT name FROM employees AS "e"" CROSS JOIN main.payroll -- "'
            ),
        },
        EVERYBODY,
        OURS,
    ),
    *_steal(
        "text_that_would_end_behind_a_backslash",
        "SELECT name || '\\' AS n, ' FROM main.payroll -- ' AS x FROM employees WHERE id = 4",
        (("Dora\\", " FROM main.payroll -- "),),
        (),
    ),
    # -- texts and names that the guard may take for its own placeholders --
    *_steal(
        "placeholders_as_names",
        'SELECT name AS "$1", department_id AS "?1" FROM employees WHERE name <> \'?1\'',
        tuple(
            (name, department)
            for (name,), department in zip(EVERYBODY, (1, 1, 1, 2, 2, 3, None), strict=True)
        ),
        tuple((name, 1) for (name,) in OURS),
    ),
    *_steal(
        "placeholder_in_a_condition",
        "SELECT name FROM employees WHERE '$1' <> '?1' OR department_id = 2",
        EVERYBODY,
        OURS,
    ),
    *_steal(
        "attribute_of_the_policy_in_a_text",
        "SELECT name, ':department_id \x02department_id\x03' AS x FROM employees WHERE id < 2",
        (("Ada", ":department_id \x02department_id\x03"),),
        (("Ada", ":department_id \x02department_id\x03"),),
    ),
    # -- names that the guard itself may use inside --
    *_steal(
        "alias_of_the_wrapper",
        "SELECT _0.name FROM employees AS _0 WHERE _0.department_id = 2",
        one_column("Dora", "Emil"),
        (),
    ),
    *_steal(
        "aliases_of_the_inherited_chain",
        "SELECT _1.carrier FROM shipments AS _1, order_lines AS _2, orders AS _3 "
        "WHERE _2.id = _1.line_id AND _3.id = _2.order_id",
        one_column("post", "armoured car", "drone"),
        one_column("post"),
    ),
    *spread_all(
        _steal,
        {
            "cte_of_an_inner_name": (
                "WITH _0 AS (SELECT 1 AS department_id), _cte1 AS (SELECT name FROM employees), "
                "_cte2 AS (SELECT 'decoy' AS name) SELECT name FROM _cte1"
            ),
            "cte_that_calls_itself_the_schema": (
                "WITH main AS (SELECT 'decoy' AS name) SELECT e.name FROM main.employees AS e, main"
            ),
        },
        EVERYBODY,
        OURS,
    ),
    *_steal(
        "column_of_an_inner_name",
        'SELECT x."_0" FROM (SELECT name AS "_0" FROM employees) AS x WHERE x."_0" > \'D\'',
        one_column("Dora", "Emil", "Fay", "Gus"),
        (),
    ),
]
