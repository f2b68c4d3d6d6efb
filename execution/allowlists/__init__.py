"""The allowlists of guarded queries: one YAML file for each dialect, and one for sqlglot's tree.

A user's file can add functions, operators and types to a dialect's list, but no system tables
and no kinds of nodes: the guard has no code for those.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from nl2sql.errors import SettingsError
from nl2sql.types import Violation
from nl2sql.yaml_file import read_yaml


@dataclass(frozen=True)
class Allowlist:
    """Parse-tree node types, functions, operators and cast types, in the server's spelling.

    ``tree_nodes`` are sqlglot's, including their subclasses; ``extended`` are those of the
    functions, operators and types that may run only where an extension has defined them.
    """

    nodes: frozenset[str]
    functions: frozenset[str]
    types: frozenset[str]
    tree_nodes: frozenset[str]
    operators: frozenset[str] = frozenset()
    extended: frozenset[str] = frozenset()

    def has_tree_node(self, kind: type) -> bool:
        """Whether a node type of sqlglot, or one of its base classes, is on the list."""
        return any(base.__name__ in self.tree_nodes for base in kind.__mro__)


def check_name(what: str, name: str, allowed: Collection[str], where: str = "") -> Violation | None:
    """The refusal of a function or type that is not on the list.

    >>> check_name("function", "shop.net", {"net"}).message.partition(":")[0]
    'The function shop.net is not allowed'
    """
    if name in allowed:
        return None
    return Violation(
        f"{what}_not_allowed",
        name,
        f"The {what} {name} is not allowed{where}: only built-in ones that do nothing but compute "
        "are; one of your own can be added under databases.NAME.allowlist.",
    )


_NAMES = ("functions", "operators", "types")


class _Additions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    functions: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()


@cache
def load_allowlist(dialect: str) -> Allowlist:
    """The allowlist of a dialect. Raises FileNotFoundError for a dialect without one."""
    value = _read(dialect)
    own = {key: frozenset(value.get(key, ())) for key in _NAMES}
    brought = {
        key: frozenset[str]().union(*(kinds.get(key, ()) for kinds in value["extensions"].values()))
        for key in (_NAMES if "extensions" in value else ())
    }
    names = {key: own[key].union(brought.get(key, ())) for key in _NAMES}
    return Allowlist(
        nodes=frozenset(value["nodes"]),
        functions=names["functions"],
        types=names["types"],
        tree_nodes=frozenset(_read("tree")["nodes"]).union(value.get("tree_nodes", ())),
        operators=names["operators"],
        extended=frozenset[str]().union(*(names[key] - own[key] for key in _NAMES)),
    )


def load_function_names(name: str) -> dict[str, frozenset[str]]:
    """The names of functions, or patterns of them, in ``NAME.yaml`` of this folder, by kind."""
    return {kind: frozenset(names) for kind, names in _read(name).items()}


def extend_allowlist(dialect: str, path: Path) -> Allowlist:
    """The dialect's allowlist with the additions of the YAML file at ``path``.

    Raises SettingsError if the file is missing or has an unknown key.
    """
    found = read_yaml(path, called="allowlist")
    try:
        added = _Additions.model_validate({} if found is None else found)
    except ValidationError as error:
        raise SettingsError(
            f"The allowlist {path} is wrong: {error}",
            hint="It may hold functions, operators and types: lists of names.",
        ) from error
    base = load_allowlist(dialect)
    return replace(
        base,
        functions=base.functions | added.functions,
        operators=base.operators | added.operators,
        types=base.types | added.types,
        extended=base.extended - added.functions - added.operators - added.types,
    )


def _read(name: str) -> dict[str, Any]:
    text = files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    value: dict[str, Any] = yaml.safe_load(text)
    return value
