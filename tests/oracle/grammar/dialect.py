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

import random
from collections.abc import Collection, Mapping, Sequence
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


_ODD = ('"T"', '"select"', '"a b"', '"ü"', '"c""d"', "straße", '"C1"', "_0", "_cte1")


class Names:
    """Draws names that differ from those in ``taken``."""

    def __init__(self, dialect: Dialect, rng: random.Random, stored: Sequence[str]) -> None:
        """``stored`` are names of tables and columns of the database, as SQL."""
        self._dialect = dialect
        self._rng = rng
        self._stored = stored
        self._number = 0

    def restart(self) -> None:
        """Starts to number names from one again."""
        self._number = 0

    def draw(self, taken: Collection[str], *, plain: float = 0.5) -> str:
        """A fresh name, one of a function, one that the database stores, or an odd one."""
        roll = self._rng.random()
        name = ""
        if roll < plain:
            pass
        elif roll < plain + (1 - plain) * 0.5:
            name = self._rng.choice(self._dialect.dangerous)
        elif roll < plain + (1 - plain) * 0.85:
            name = self._rng.choice(self._stored)
        elif roll < plain + (1 - plain) * 0.95:
            name = self._rng.choice(_ODD)
        if not name or name in taken or name in self._dialect.keywords:
            self._number += 1
            name = f"t{self._number}"
        return name

    def draw_list(self, own: Sequence[str], count: int) -> list[str]:
        """New names for a source's first columns: ``own`` in another order, or drawn ones."""
        known = [name for name in own if name]
        if len(known) >= count > 1 and self._rng.random() < 0.3:
            return self._rng.sample(known, count)
        names: list[str] = []
        rest = set(own[count:])
        for _ in range(count):
            names.append(self.draw({*names, *rest}, plain=0.4))
        return names
