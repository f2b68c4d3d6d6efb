"""The policy file: what it may hold, and what is said when it holds something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from execution.policies.policy_file import load_policy
from nl2sql.errors import PolicyError
from tests.conftest import ROOT


def test_the_demo_has_one() -> None:
    policy = load_policy(ROOT / "data" / "demo_erp" / "policy.yaml")
    assert set(policy.roles) == {
        "analyst",
        "department_member",
        "regional_manager",
        "public_reporting",
    }


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
