"""What the grammar knows of one database: its expressions, its functions in FROM, its clauses.

Read from ``postgres.yaml``, ``sqlite.yaml`` and ``duckdb.yaml``. A template is SQL with slots:
``{int}`` is an expression of that family, ``{int#1}`` the same text wherever it is repeated in the
template, ``{any}`` of any family, ``{rows:int}`` a query of one column, ``{one:int}`` of at most
one row, ``{exists}`` any query, ``{n}`` a small number, ``{row}`` the name of a source, ``{row2}``
two expressions in parentheses, ``{rows2}`` and ``{one2}`` queries of two columns, ``{over}`` and
``{frame}`` a window, ``{windowed}`` one that orders its rows totally, ``{named}`` a named one,
``{window}`` the name of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, field_validator

from nl2sql.yaml_file import read_yaml

GRAMMARS = Path(__file__).parent


class FunctionSource(BaseModel):
    """A function that may stand in FROM, and the families of its columns.

    ``columns`` names them where the database fixes their names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    template: str
    families: tuple[str, ...]
    columns: tuple[str, ...] = ()


class Dialect(BaseModel):
    """``name`` is the catalog's; the mappings are by family.

    ``families`` says of the beginning of a column's type which family it is of, ``casts`` which
    type a family's NULL has. ``aggregates`` and ``windows`` are templates; ``functions`` stand in
    FROM. ``traps`` are expressions that none may evaluate, ``dangerous`` names of functions that
    none may call. ``clauses`` names what the grammar of queries may write.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    families: Mapping[str, str]
    casts: Mapping[str, str]
    literals: Mapping[str, tuple[str, ...]]
    expressions: Mapping[str, tuple[str, ...]]
    aggregates: Mapping[str, tuple[str, ...]]
    windows: Mapping[str, tuple[str, ...]]
    functions: tuple[FunctionSource, ...]
    traps: tuple[str, ...]
    frames: tuple[str, ...]
    sortings: tuple[str, ...]
    joins: tuple[str, ...]
    dangerous: tuple[str, ...]
    clauses: frozenset[str]
    keywords: frozenset[str]

    @field_validator("dangerous", "clauses", "keywords", mode="before")
    @classmethod
    def _split_words(cls, value: str) -> list[str]:
        return value.split()

    def find_family(self, type_name: str) -> str:
        """The family of a column's type, empty for one that is not read."""
        folded = type_name.lower()
        if "[" in folded:
            return ""
        return next((family for key, family in self.families.items() if folded.startswith(key)), "")

    def has(self, clause: str) -> bool:
        """Whether the grammar of queries may write the clause."""
        return clause in self.clauses


@cache
def load_dialect(name: str) -> Dialect:
    """The dialect of ``NAME.yaml``. Raises SettingsError, ValidationError."""
    return Dialect.model_validate(read_yaml(GRAMMARS / f"{name}.yaml", called="grammar"))
