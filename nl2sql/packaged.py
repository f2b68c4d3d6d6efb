"""Reads the YAML files that packages hold beside their code."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import yaml

# Scalars stay text: YAML would read "no" as false. In C, where PyYAML has it, it takes a tenth.
_LOADER: type[Any] = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def read_packaged(package: str, name: str) -> Any:
    """The content of a file of ``package``: mappings, lists and texts."""
    return yaml.load(files(package).joinpath(name).read_text("utf-8"), _LOADER)
