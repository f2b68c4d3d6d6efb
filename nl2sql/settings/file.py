"""Reads ``quorumsql.yaml``, and names the nearest key if one is unknown."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from nl2sql.errors import SettingsError
from nl2sql.settings.connection import (
    build_duckdb_connection,
    build_sqlite_connection,
)
from nl2sql.settings.database import DatabaseSettings
from nl2sql.settings.settings import Settings
from nl2sql.yaml_file import read_yaml


def load_settings(path: Path) -> Settings:
    """Reads the YAML file at ``path``; relative paths in it are relative to the file.

    Raises SettingsError if the file is missing, is not YAML, or has an unknown or bad key.
    """
    hint = "Name one with --config, or copy the quorumsql.yaml of the repository."
    value = read_yaml(path, hint=hint)
    settings = parse_settings(value, where=str(path))
    folder = path.resolve().parent

    def locate(inside: Path) -> Path:
        return (folder / inside.expanduser()).resolve()

    def locate_files(database: DatabaseSettings) -> DatabaseSettings:
        found: dict[str, Any] = {
            key: locate(file)
            for key in ("policy", "allowlist", "synonyms", "semantics")
            if (file := getattr(database, key)) is not None
        }
        if (file := database.reader.sqlite_path) is not None:
            found["reader"] = build_sqlite_connection(locate(file))
        if (file := database.reader.duckdb_path) is not None:
            found["reader"] = build_duckdb_connection(locate(file))
        return database.model_copy(update=found)

    databases = {name: locate_files(database) for name, database in settings.databases.items()}
    model = settings.model
    found_files = {
        "folders": tuple(locate(folder) for folder in model.folders),
        "adapter": locate(model.adapter) if model.adapter else None,
    }
    identity, audit = settings.identity, settings.audit
    if identity.jwt.jwks_file is not None:
        found_keys = {"jwks_file": locate(identity.jwt.jwks_file)}
        jwt = identity.jwt.model_copy(update=found_keys)
        identity = identity.model_copy(update={"jwt": jwt})
    if audit.file is not None:
        audit = audit.model_copy(update={"file": locate(audit.file)})
    ranking = settings.ranking
    if ranking.has_own_calibration:
        file = str(locate(Path(ranking.calibration)))
        ranking = ranking.model_copy(update={"calibration": file})
    return settings.model_copy(
        update={
            "home": locate(settings.home),
            "identity": identity,
            "audit": audit,
            "ranking": ranking,
            "databases": databases,
            "model": model.model_copy(update=found_files),
        }
    )


def parse_settings(value: Any, *, where: str = "settings") -> Settings:
    """``value`` (a plain mapping) as Settings. Raises SettingsError listing every bad key."""
    if not isinstance(value, dict):
        raise SettingsError(f"{where} must be a mapping of keys to values.")
    try:
        return Settings.model_validate(value)
    except ValidationError as error:
        lines = [_describe(problem, value) for problem in error.errors()]
        raise SettingsError(f"{where}: " + "; ".join(lines)) from error


def _describe(problem: Any, value: Any) -> str:
    location = [str(part) for part in problem["loc"]]
    dotted = ".".join(location) or "the file"
    if problem["type"] != "extra_forbidden":
        return f"{dotted}: {problem['msg'].removeprefix('Value error, ')}"
    known = _known_keys(Settings, location[:-1])
    nearest = difflib.get_close_matches(location[-1], known, n=1, cutoff=0.0)
    return f"unknown key {dotted}, did you mean {nearest[0]}?" if nearest else f"unknown {dotted}"


def _known_keys(section: type[BaseModel], path: list[str]) -> list[str]:
    """The keys that are allowed where ``path`` leads."""
    for part in path:
        if part not in section.model_fields:
            continue  # the name of a database, which is not a key
        annotation = section.model_fields[part].annotation
        inner = getattr(annotation, "__args__", (annotation,))[-1]
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            section = inner
    return list(section.model_fields)
