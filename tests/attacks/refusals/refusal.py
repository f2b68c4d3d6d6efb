"""One text, and the code under which the guard of each database refuses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

# Refused, by whichever check is the first to notice.
ANY: Final = "any code"
# Refused with the code of the family.
_SAME: Final = "that of the family"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A text with its codes: None for a database where it is harmless.

    In a text, FOLDER is replaced by a folder with the files ``notes.csv`` and others, FILE by the
    database's own. ``works`` says that DuckDB runs it if there is no guard.
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


def refused(
    family: str,
    texts: Mapping[str, str],
    *,
    postgres: str | None = _SAME,
    sqlite: str | None = _SAME,
    duckdb: str | None = _SAME,
    works: bool = False,
) -> tuple[Refusal, ...]:
    """Texts (name → SQL) that are refused with the same codes, by default that of the family.

    An engine may have another code, if another check is the first to notice, or none: what is an
    attack under one engine may be a plain query under the next. Names begin with the family.
    """
    codes = (family if code == _SAME else code for code in (postgres, sqlite, duckdb))
    on_postgres, on_sqlite, on_duckdb = codes
    return tuple(
        Refusal(f"{family}-{name}", sql, on_postgres, on_sqlite, on_duckdb, works)
        for name, sql in texts.items()
    )
