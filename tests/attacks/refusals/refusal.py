"""One text, and the code under which the guard of each database refuses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

# Refused, by whichever reader is the first to notice.
ANY: Final = "any code"
# The code of the family that a text stands in.
_FAMILYS: Final = "that of the family"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A text with its codes: None for a database where it means no harm.

    In a text, FOLDER stands for a folder with the files ``notes.csv`` and others, FILE for the
    database's own. ``works`` says that DuckDB carries it out when no guard stands before it.
    """

    name: str
    sql: str
    postgres: str | None
    sqlite: str | None
    duckdb: str | None
    works: bool

    @property
    def codes(self) -> dict[str, str]:
        """By engine, those that refuse it."""
        codes = {"postgres": self.postgres, "sqlite": self.sqlite, "duckdb": self.duckdb}
        return {engine: code for engine, code in codes.items() if code is not None}


# code → what is refused with it, by all three databases if nothing else is said
Families = Mapping[str, tuple[Refusal, ...]]


def refused(
    name: str,
    sql: str,
    *,
    postgres: str | None = _FAMILYS,
    sqlite: str | None = _FAMILYS,
    duckdb: str | None = _FAMILYS,
    works: bool = False,
) -> Refusal:
    """One text of a family. The code of an engine is given where it is another, or there is none:

    another reader may be the first to notice, and what is an attack under one engine may be a plain
    query under the next.
    """
    return Refusal(name, sql, postgres, sqlite, duckdb, works)


def list_refusals(families: Families) -> Iterator[Refusal]:
    """All texts, with the codes of their families filled in; names begin with the family."""
    for family, texts in families.items():
        for text in texts:
            codes = [
                family if code == _FAMILYS else code
                for code in (text.postgres, text.sqlite, text.duckdb)
            ]
            yield replace(
                text,
                name=f"{family}-{text.name}",
                postgres=codes[0],
                sqlite=codes[1],
                duckdb=codes[2],
            )
