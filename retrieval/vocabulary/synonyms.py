"""The user's synonym file: words for tables, columns and values of one database.

A YAML file, checked by pydantic. For an unknown key, table or column, the error names the nearest
existing one. Synonyms of tables and columns go into the index and into prompts; synonyms of values
are used to find the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from nl2sql.catalog import Catalog
from nl2sql.errors import SettingsError
from nl2sql.yaml_file import check_yaml, read_yaml, suggest

Words = tuple[Annotated[str, Field(min_length=1, max_length=200)], ...]


class Synonyms(BaseModel):
    """The synonyms of one database. ``values`` maps columns to stored values and their words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    tables: Mapping[str, Words] = {}
    columns: Mapping[str, Words] = {}
    values: Mapping[str, Mapping[str, Words]] = {}


NO_SYNONYMS = Synonyms()


def load_synonyms(path: Path) -> Synonyms:
    """Reads the YAML file at ``path``; does not check that the names exist (``check_synonyms``).

    Raises SettingsError if it is missing, is not YAML, or contains a wrong key or value.
    """
    value = read_yaml(path, called="synonym file")
    return parse_synonyms(value, where=str(path))


def parse_synonyms(value: object, *, where: str = "synonyms") -> Synonyms:
    """``value`` (a plain mapping) as Synonyms. Raises SettingsError that lists all errors."""
    return check_yaml(value, Synonyms, where=where)


def check_synonyms(synonyms: Synonyms, catalog: Catalog, *, where: str = "synonyms") -> None:
    """Raises SettingsError that lists all tables and columns that are not in the catalog."""
    tables = {table.qualified for table in catalog.tables}
    columns = {
        f"{table.qualified}.{column.name}" for table in catalog.tables for column in table.columns
    }
    wrong = [
        f"tables: there is no table {name!r}{suggest(name, tables)}"
        for name in synonyms.tables
        if name not in tables
    ]
    for section in ("columns", "values"):
        wrong += [
            f"{section}: there is no column {name!r}{suggest(name, columns)}"
            for name in getattr(synonyms, section)
            if name not in columns
        ]
    if wrong:
        raise SettingsError(f"{where}: " + "; ".join(wrong))
