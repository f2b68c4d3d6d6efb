"""The policy file: who may see which tables, rows and columns of one database.

YAML, checked by pydantic: an unknown key is an error that names the nearest one. Knows nothing of
the database: ``rules.py`` checks whether the tables exist and follows foreign keys.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from nl2sql.errors import PolicyError
from nl2sql.yaml_file import check_yaml, read_yaml

AttributeType = Literal[
    "boolean",
    "date",
    "integer",
    "numeric",
    "text",
    "timestamp",
    "boolean[]",
    "date[]",
    "integer[]",
    "numeric[]",
    "text[]",
    "timestamp[]",
]


class _PolicyPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Attribute(_PolicyPart):
    """An attribute of a principal; its value is bound as ``type``, with ``[]`` for a list."""

    type: AttributeType
    description: str = ""


class VisibleTables(_PolicyPart):
    """``"*"`` or a list of qualified names, without those in ``hidden``."""

    visible: Literal["*"] | tuple[str, ...]
    hidden: tuple[str, ...] = ()


class Inheritance(_PolicyPart):
    """One hop: a row is visible if the row of ``references`` that ``columns`` refer to is visible.

    ``to`` names the referenced columns; only needed if the database declares no such foreign key.
    """

    columns: tuple[str, ...] = Field(min_length=1)
    references: str
    to: tuple[str, ...] = ()


class RolePolicy(_PolicyPart):
    """What one role may see."""

    description: str = ""
    tables: VisibleTables
    rows: Literal["all", "filtered"] = "filtered"
    row_filters: dict[str, str] = {}
    inherit: dict[str, Inheritance] = {}
    hidden_columns: tuple[str, ...] = ()
    masked_columns: tuple[str, ...] = ()


class Policy(_PolicyPart):
    """A whole policy file."""

    version: Literal[1]
    database: str = ""
    attributes: dict[str, Attribute] = {}
    shared: tuple[str, ...] = ()
    roles: dict[str, RolePolicy] = Field(min_length=1)


def load_policy(path: Path) -> Policy:
    """Reads the policy in the YAML file at ``path``.

    Raises PolicyError if it is missing, is not YAML, or has a wrong key or value.
    """
    value = read_yaml(path, called="policy file", error=PolicyError)
    return parse_policy(value, where=str(path))


def parse_policy(value: Any, *, where: str = "policy") -> Policy:
    """``value`` (a plain mapping) as a Policy. Raises PolicyError that lists all that is wrong."""
    return check_yaml(value, Policy, where=where, error=PolicyError)
