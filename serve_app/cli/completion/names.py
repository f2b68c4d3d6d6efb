"""Names that complete a value: of databases, principals, roles, benchmarks and models.

Those of the settings file are read from the file as it is, without checking it: a file that is
wrong elsewhere still completes, and the check would take too long.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from serve_app.cli.context import FILE


def list_names(kind: str, config: Path | None) -> list[str]:
    """The names of that kind, out of ``config`` or the file that commands find without it.

    Names that a shell would have to quote are left out.
    """
    match kind:
        case "databases":
            found: Iterable[Any] = _read_section(config, "databases")
        case "principals":
            found = _read_section(config, "identity", "principals")
        case "roles":
            principals = _read_section(config, "identity", "principals").values()
            lists = (each.get("roles") for each in principals if isinstance(each, dict))
            found = dict.fromkeys(role for roles in lists for role in roles or ())
        case "benchmarks":
            found = _list_benchmarks()
        case "models":
            found = _list_models()
        case _:
            found = ()
    return [name for name in found if isinstance(name, str) and _is_plain(name)]


def _is_plain(name: str) -> bool:
    return name.isprintable() and not set(name) & set(" \"'`$\\&|;<>()*?!#~")


def _read_section(config: Path | None, *keys: str) -> Mapping[str, Any]:
    found: Any = _read_settings(config)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _read_settings(config: Path | None) -> Any:
    named = os.environ.get("QUORUMSQL_CONFIG")
    path = config or (Path(named) if named else FILE)
    if not config and not named and not FILE.exists():
        from data.demo_erp import SETTINGS

        path = SETTINGS
    return _read_yaml(path)


def _read_yaml(path: Any) -> Any:
    """The values of a YAML file; None if it cannot be read."""
    import yaml

    # Of libyaml, which reads a long file ten times as fast.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(path.read_text(encoding="utf-8"), loader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return None


def _list_benchmarks() -> Iterable[str]:
    from data.benchmarks.load import DEMOS

    return DEMOS


def _list_models() -> Iterable[Any]:
    registry = _read_yaml(files("generation.models") / "registry.yaml")
    return [entry["name"] for entry in registry["models"]]
