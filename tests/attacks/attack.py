"""What an attack is: a statement, what shows that it works unguarded, what must come of it guarded.

Knows no database: ``arenas.py`` runs attacks and says what happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

Row = tuple[object, ...]

_Rest = ParamSpec("_Rest")
_Built = TypeVar("_Built")

# In a statement: the folder that holds SECRET_FILE, and that may be written to.
FOLDER = "<folder>"
SECRET_FILE = "secret.txt"
SECRET = "a-secret-on-the-servers-disk"

HARMLESS = "harmless"
# The SQLSTATE of what a time limit ended.
QUERY_CANCELED = "57014"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a statement did without the guard.

    ``rows`` are those of all its results, and the notifications it caused; ``error`` is the class
    or SQLSTATE and the whole text of its error, empty when there was none; ``probed`` are the rows
    of the evidence's probe, asked on the same connection; ``ms`` is how long it took.
    """

    rows: tuple[Row, ...]
    error: str
    probed: tuple[Row, ...]
    ms: float
    folder: Path


class Evidence(Protocol):
    """What shows that an attack worked. ``probe`` is a query to ask afterwards, or empty."""

    @property
    def probe(self) -> str: ...

    def holds(self, outcome: Outcome) -> bool: ...


@dataclass(frozen=True, slots=True)
class Shows:
    """Exactly these rows come back, in any order."""

    rows: tuple[Row, ...]
    probe: str = ""

    def holds(self, outcome: Outcome) -> bool:
        return not outcome.error and equal_rows(outcome.rows, self.rows)


@dataclass(frozen=True, slots=True)
class Carries:
    """This text stands in some cell that comes back."""

    text: str
    probe: str = ""

    def holds(self, outcome: Outcome) -> bool:
        return not outcome.error and self.text in repr(outcome.rows)


@dataclass(frozen=True, slots=True)
class Answers:
    """Something comes back that is not NULL."""

    probe: str = ""

    def holds(self, outcome: Outcome) -> bool:
        return not outcome.error and any(any(c is not None for c in row) for row in outcome.rows)


@dataclass(frozen=True, slots=True)
class Fails:
    """It fails, and this stands in the error: its code, or a value that nobody should see."""

    text: str
    probe: str = ""

    def holds(self, outcome: Outcome) -> bool:
        return self.text in outcome.error


@dataclass(frozen=True, slots=True)
class Absent:
    """This build of the engine lacks the function: the error says so, with this text.

    All that can be shown without it; the guarded half stands as everywhere.
    """

    text: str
    probe: str = ""

    def holds(self, outcome: Outcome) -> bool:
        return self.text in outcome.error


@dataclass(frozen=True, slots=True)
class Leaves:
    """Afterwards ``probe`` gives these rows."""

    probe: str
    rows: tuple[Row, ...]

    def holds(self, outcome: Outcome) -> bool:
        return not outcome.error and equal_rows(outcome.probed, self.rows)


@dataclass(frozen=True, slots=True)
class Writes:
    """Afterwards this file stands in the folder."""

    file: str
    probe: str = ""

    def holds(self, outcome: Outcome) -> bool:
        return not outcome.error and (outcome.folder / self.file).exists()


@dataclass(frozen=True, slots=True)
class Runs:
    """It is carried out. For what leaves no other trace."""

    probe: str = ""

    def holds(self, outcome: Outcome) -> bool:
        return not outcome.error


@dataclass(frozen=True, slots=True)
class Lasts:
    """It keeps the server for at least this long."""

    ms: float
    probe: str = ""

    def holds(self, outcome: Outcome) -> bool:
        return not outcome.error and outcome.ms >= self.ms


@dataclass(frozen=True, slots=True)
class Endless:
    """It is still running when the short time limit of the arena ends it."""

    probe: str = ""

    def holds(self, outcome: Outcome) -> bool:
        return outcome.error.startswith("timeout")


@dataclass(frozen=True, slots=True)
class Attack:
    """One line of the table.

    ``refused_as`` is the code of the guard's Violation, the SQLSTATE under which the executor
    refuses or ends the guarded query, or ``harmless``: it runs, and ``yields`` are the rows that
    the principal gets, in any order. ``role`` is a role of policy.yaml. ``in_transaction`` is
    False for what runs in none.
    """

    engine: str
    group: str
    name: str
    sql: str
    works: Evidence
    refused_as: str = HARMLESS
    yields: tuple[Row, ...] | None = None
    role: str = "manager"
    in_transaction: bool = True

    def __post_init__(self) -> None:
        if (self.refused_as == HARMLESS) != (self.yields is not None):
            raise ValueError(f"{self.name}: harmless needs rows, a refusal has none")

    @property
    def id(self) -> str:
        """What pytest calls it."""
        return f"{self.engine}-{self.group}-{self.name}"


def build_attack(
    engine: str,
    group: str,
    name: str,
    sql: str,
    works: Evidence,
    yields: tuple[Row, ...] | None = None,
    *,
    refused_as: str = HARMLESS,
    role: str = "manager",
) -> Attack:
    """An attack for tables in which most guarded queries run: ``yields`` comes first."""
    return Attack(engine, group, name, sql, works, refused_as, yields, role)


def spread(
    build: Callable[Concatenate[str, str, _Rest], _Built],
    texts: Mapping[str, str],
    *args: _Rest.args,
    **kwargs: _Rest.kwargs,
) -> list[_Built]:
    """What ``build`` makes of each text (name → SQL) with the same further arguments."""
    return [build(name, sql, *args, **kwargs) for name, sql in texts.items()]


def one_column(*values: object) -> tuple[Row, ...]:
    """Rows of one column."""
    return tuple((value,) for value in values)


def equal_rows(left: tuple[Row, ...], right: tuple[Row, ...]) -> bool:
    """True for the same rows in any order; 1 and 1.0 are the same, 1 and '1' are not."""
    return Counter(map(_key, left)) == Counter(map(_key, right))


def _key(row: Row) -> str:
    return repr(tuple(_to_number(value) for value in row))


def _to_number(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return value
