"""What a guarded query may consist of, a YAML file a dialect."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import yaml


@dataclass(frozen=True, slots=True)
class Allowlist:
    """Parse-tree node types, functions and cast types, in the server's own spelling."""

    nodes: frozenset[str]
    functions: frozenset[str]
    types: frozenset[str]


@cache
def load_allowlist(dialect: str) -> Allowlist:
    """The allowlist of a dialect. Raises FileNotFoundError for a dialect without one."""
    text = files(__package__).joinpath(f"{dialect}.yaml").read_text(encoding="utf-8")
    value = yaml.safe_load(text)
    return Allowlist(*(frozenset(value[key]) for key in ("nodes", "functions", "types")))
