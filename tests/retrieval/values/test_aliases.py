"""Words that mean a value."""

from __future__ import annotations

import pytest

from retrieval.values.refresh import find_aliases, find_objection


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("Status code: ACT = active, LOA = on long leave", {"on long leave": "LOA"}),
        ("ACT: working now; LOA: away", {"working now": "ACT", "away": "LOA"}),
        ("'ACT' means employed (LOA means absent)", {"employed": "ACT", "absent": "LOA"}),
        ("LOA - on leave or away", {"on leave": "LOA", "away": "LOA"}),
        ("Kind of status: see the manual", {}),
        ("ACT=1, LOA=2", {}),
        ("", {}),
    ],
)
def test_meanings_are_read_from_comments(comment: str, expected: dict[str, str]) -> None:
    found = find_aliases("state", ["ACT", "LOA"], comment, {})
    assert found == {**expected, "active": "ACT"}


def test_a_users_words_come_first_and_name_stored_values_only() -> None:
    found = find_aliases("state", ["OPN"], "", {"opn": ["running", "open"], "GONE": ["away"]})
    assert found == {"running": "OPN", "open": "OPN"}


def test_one_letter_means_a_sex_where_the_column_is_called_so() -> None:
    assert find_aliases("gender", ["F"], "", {})["women"] == "F"
    assert find_aliases("grade", ["F"], "", {}) == {}


def test_what_comes_from_a_country_names_it() -> None:
    assert find_aliases("country", ["FRANCE"], "", {}) == {"french": "FRANCE"}


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ("hr.employees.email", "looks private"),
        ("hr.employees.PasswordHash", "looks private"),
        ("hr.employees.home_phone_no", "looks private"),
        ("hr.employees.iban", "looks private"),
        ("fin.bank_accounts.account_no", "looks private"),
        ("fin.ledger.account_no", ""),
        ("hr.employees.city", ""),
        ("hr.employees.spinning", ""),
        ("hr.people.note", "skipped by the settings"),
        ("HR.People.Remark", "skipped by the settings"),
    ],
)
def test_what_looks_private_or_is_skipped_is_not_read(column: str, reason: str) -> None:
    skip = ("hr.people.*",)
    assert find_objection(column, column.rpartition(".")[2], skip) == reason
