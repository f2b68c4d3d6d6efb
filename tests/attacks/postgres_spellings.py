"""PostgreSQL: names and texts spelt so that a reader of SQL may take them for something else."""

from __future__ import annotations

from functools import partial

from tests.attacks.attack import Attack, Shows, build_attack, one_column, spread
from tests.attacks.scratch import EVERYBODY, OURS

_attack = partial(build_attack, "postgres", "spellings")


ATTACKS: list[Attack] = [
    _attack(
        "unicode_identifier",
        r'SELECT name FROM U&"\0065mployees"',
        Shows(EVERYBODY),
        (("Ada",), ("Ben",), ("Cleo",)),
    ),
    _attack(
        "unicode_identifier_of_a_hidden_table",
        r'SELECT note FROM U&"p\0061yroll"',
        Shows(one_column("payroll-secret")),
        refused_as="not_permitted",
    ),
    _attack(
        "unicode_identifier_of_a_hidden_column",
        r'SELECT U&"b\0061dge" FROM employees WHERE id = 1',
        Shows(one_column("badge-1")),
        refused_as="not_permitted",
        role="member",
    ),
    _attack(
        "unicode_identifier_with_its_own_escape",
        "SELECT U&\"b!0061dge\" UESCAPE '!' FROM employees WHERE id = 1",
        Shows(one_column("badge-1")),
        refused_as="not_permitted",
        role="member",
    ),
    _attack(
        "tagged_dollar_quotes_that_hide_a_quote",
        "SELECT $a$'$a$ || note FROM payroll WHERE note <> $b$'$b$",
        Shows(one_column("'payroll-secret")),
        refused_as="not_permitted",
    ),
    *spread(
        _attack,
        {
            "escape_string": r"SELECT note FROM payroll WHERE note <> E'\'' AND note <> ''",
            "reserved_schema_under_capitals": 'SELECT note FROM MAIN."payroll"',
        },
        Shows(one_column("payroll-secret")),
        refused_as="not_permitted",
    ),
    _attack(
        "string_in_two_parts",
        "SELECT name FROM employees WHERE name = 'Do'\n'ra'",
        Shows(one_column("Dora")),
        (),
    ),
    _attack(
        "comment_ended_by_a_carriage_return",
        "SELECT 1 AS n -- \rFROM payroll",
        Shows(((1,),)),
        refused_as="not_permitted",
    ),
    _attack(
        "cte_whose_name_is_spelt_otherwise",
        "WITH \"EMPLOYEES\" AS (SELECT 'decoy' AS name) SELECT name FROM EMPLOYEES",
        Shows(EVERYBODY),
        OURS,
    ),
]
