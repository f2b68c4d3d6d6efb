"""Reads ``quorumsql.yaml``, and names the nearest key if one is unknown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nl2sql.settings.connection import (
    build_duckdb_connection,
    build_sqlite_connection,
)
from nl2sql.settings.database import DatabaseSettings
from nl2sql.settings.settings import Settings
from nl2sql.yaml_file import check_yaml, read_yaml


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
    found_files = {"adapter": locate(model.adapter) if model.adapter else None}
    identity, audit = settings.identity, settings.audit
    if identity.jwt.jwks_file is not None:
        found_keys = {"jwks": str(locate(identity.jwt.jwks_file))}
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
    return check_yaml(value, Settings, where=where)
