"""The policy file: what it may hold, and what is said when it holds something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from execution.policies.policy_file import load_policy, parse_policy
from nl2sql.errors import PolicyError
from tests.conftest import ROOT
from tests.execution.policies.shop import build_policy_value


def test_the_demo_has_one() -> None:
    policy = load_policy(ROOT / "data" / "demo_erp" / "policy.yaml")
    assert set(policy.roles) == {
        "analyst",
        "department_member",
        "regional_manager",
        "public_reporting",
    }


def test_a_list_of_masked_columns_means_null() -> None:
    policy = parse_policy(build_policy_value())
    assert policy.roles["clerk"].masked_columns == {"sales.orders.total": "null"}
    assert policy.roles["seller"].masked_columns == {"sales.employees.name": "hash"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"sharde": []}, "sharde: unknown key; did you mean 'shared'?"),
        ({"clerk": {"row_filter": {}}}, "did you mean 'row_filters'?"),
        ({"version": 2}, "version"),
        ({"roles": {}}, "roles"),
        ({"attributes": {"x": {"type": "json"}}}, "attributes.x.type"),
        ({"clerk": {"masked_columns": {"a.b.c": "blur"}}}, "masked_columns"),
        ({"clerk": {"inherit": {"a.b": {"references": "c.d"}}}}, "columns"),
        ({"hash_key_env": ""}, "hash_key_env"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_key_or_value_is_named(change: dict[str, Any], said: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse_policy(build_policy_value(**change))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("roles: [", "not valid YAML"),
        ("- a", "must be a mapping"),
        ("version: 1\nversion: 1\n", "duplicate key"),
        ("!!python/object/apply:os.system ['true']", "not valid YAML"),
    ],
    ids=["broken", "list", "key_twice", "object"],
)
def test_a_file_that_is_no_policy_says_why(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError, match=said):
        load_policy(file)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"nowhere\.yaml"):
        load_policy(tmp_path / "nowhere.yaml")
