"""The user's synonym file, and the packaged list of business terms."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from nl2sql.errors import SettingsError
from retrieval.vocabulary.terms import (
    Synonyms,
    check_synonyms,
    find_business_terms,
    load_synonyms,
)
from tests.fakes import SHOP


def test_a_file_names_tables_columns_and_values(tmp_path: Path) -> None:
    path = tmp_path / "synonyms.yaml"
    path.write_text(
        "version: 1\n"
        "tables: {sales.orders: [deals]}\n"
        "columns: {sales.orders.total: [worth]}\n"
        "values: {sales.orders.status: {CXL: [called off]}}\n"
    )
    synonyms = load_synonyms(path)
    check_synonyms(synonyms, SHOP)
    assert synonyms == Synonyms(
        tables={"sales.orders": ("deals",)},
        columns={"sales.orders.total": ("worth",)},
        values={"sales.orders.status": {"CXL": ("called off",)}},
    )


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"table": {}}, "table: unknown key; did you mean 'tables'?"),
        ({"tables": {"s.t": "one"}}, "tables.s.t"),
        ({"tables": {"s.t": [""]}}, "at least 1 character"),
        ({"version": 2}, "version"),
        (["a"], "must be a mapping"),
    ],
)
def test_a_wrong_key_or_value_is_an_error_that_says_where(
    value: object, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "synonyms.yaml"
    path.write_text(yaml.safe_dump(value))
    with pytest.raises(SettingsError, match=re.escape(message)):
        load_synonyms(path)


@pytest.mark.parametrize(
    ("synonyms", "message"),
    [
        (
            Synonyms(tables={"sales.order": ("x",)}),
            "no table 'sales.order'; did you mean 'sales.or",
        ),
        (Synonyms(columns={"sales.orders.totl": ("x",)}), "did you mean 'sales.orders.total'"),
        (Synonyms(values={"nothing": {"a": ("b",)}}), "values: there is no column 'nothing'"),
    ],
)
def test_a_name_that_the_database_has_not_is_an_error_with_the_nearest(
    synonyms: Synonyms, message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        check_synonyms(synonyms, SHOP)


def find_kinds(text: str) -> set[str]:
    return {" ".join(kind) for term in find_business_terms(text) for kind in term.tables}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("What was the turnover last year?", "order line"),
        ("Gross margins by product", "product cost"),
        ("How is our headcount?", "employee"),
        ("Days sales outstanding", "invoice"),
    ],
)
def test_phrases_are_found_whatever_their_number_and_case(text: str, kind: str) -> None:
    assert kind in find_kinds(text)


def test_a_phrase_inside_a_longer_one_does_not_count() -> None:
    assert "sales target" not in find_kinds("What are our sales?")
    assert find_business_terms("staff turnover") == find_business_terms("attrition")


def test_the_list_repeats_nothing_within_a_term() -> None:
    text = files("retrieval.vocabulary").joinpath("business.yaml").read_text(encoding="utf-8")
    for entry in yaml.safe_load(text):
        for names in (entry["say"], entry["tables"]):
            assert names
            assert max(Counter(names).values()) == 1, entry
