"""Reads users' YAML files: settings, policies, allowlists, synonyms, definitions."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from nl2sql.errors import SettingsError

_MERGE = "tag:yaml.org,2002:merge"


def read_yaml(
    path: Path,
    *,
    called: str = "",
    hint: str = "",
    error: type[SettingsError] = SettingsError,
) -> Any:
    """The content of the file at ``path`` as plain values; None if it is empty.

    Raises ``error`` if it cannot be read, is not YAML, or has a key twice. ``called`` says what
    the file is, ``hint`` what to do if it cannot be read.
    """
    name = f"the {called} {path}" if called else str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise error(f"Cannot read {name}: {problem.strerror}.", hint=hint) from problem
    except UnicodeDecodeError as problem:
        raise error(f"Cannot read {name}: it is not UTF-8.") from problem
    try:
        return yaml.load(text, _StrictLoader)
    except (yaml.YAMLError, RecursionError) as problem:
        raise error(f"{path} is not valid YAML: {problem}") from problem


def find_lines(path: Path) -> dict[tuple[str, ...], int]:
    """The line of each key and item of a file that ``read_yaml`` has read, counted from 1.

    They are named by the keys and positions that lead to them.
    """
    lines: dict[tuple[str, ...], int] = {}

    def visit(node: yaml.Node | None, place: tuple[str, ...]) -> None:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                inside = (*place, str(key.value))
                lines[inside] = key.start_mark.line + 1
                visit(value, inside)
        elif isinstance(node, yaml.SequenceNode):
            for position, value in enumerate(node.value):
                inside = (*place, str(position))
                lines[inside] = value.start_mark.line + 1
                visit(value, inside)

    visit(yaml.compose(path.read_text(encoding="utf-8"), yaml.SafeLoader), ())
    return lines


class _StrictLoader(yaml.SafeLoader):
    """Refuses duplicate keys: the second would silently replace the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue  # `<<: *other`, whose keys may be overridden
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                break  # the loader itself reports it
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"duplicate key {key!r}", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)
