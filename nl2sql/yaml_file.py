"""The one way in which a user's YAML file is read: settings, policies, allowlists, synonyms."""

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
    """What the file at ``path`` holds, as plain values; None where it is empty.

    Raises ``error`` when it cannot be read, is no YAML, or names a key twice. ``called`` says what
    the file is, and ``hint`` what to do where there is none.
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


class _StrictLoader(yaml.SafeLoader):
    """Refuses a key that stands twice: the second would silently take the place of the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue  # `<<: *other`, whose keys may be given anew
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                break  # which the loader itself reports
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands here twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)
