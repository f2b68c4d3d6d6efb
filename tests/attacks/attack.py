"""The attacks of ``tests/fixtures/attacks``: what works unguarded, what must come of it guarded.

Each file has groups of families. A family says, with the fields of ``Attack`` as keys, what its
attacks have in common; every other key of it is the title of an attack, with its SQL. Rows are
lists, or single values where they have one column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import yaml

Row = tuple[object, ...]
Engine = Literal["postgres", "sqlite", "duckdb"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
FIXTURES = Path(__file__).parents[1] / "fixtures" / "attacks"

# In a statement: the folder that holds SECRET_FILE, and that may be written to.
FOLDER = "<folder>"
SECRET_FILE = "secret.txt"
SECRET = "a-secret-on-the-servers-disk"

HARMLESS = "harmless"
# The SQLSTATE of what a time limit ended.
QUERY_CANCELED = "57014"

# Names of employees: those of department 1, and all.
OURS = (("Ada",), ("Ben",), ("Cleo",))
EVERYBODY = (*OURS, ("Dora",), ("Emil",), ("Fay",), ("Gus",))
_NAMED_ROWS = {"ours": OURS, "everybody": EVERYBODY}


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


EvidenceKind = Literal[
    "shows",  # exactly these rows come back, in any order
    "carries",  # this text stands in some cell that comes back
    "answers",  # something comes back that is not NULL
    "fails",  # it fails, and this stands in the error: its code, or a value that nobody should see
    "absent",  # as `fails`: this build of the engine lacks the function, which is all to be shown
    "leaves",  # afterwards the probe gives these rows
    "writes",  # afterwards this file stands in the folder
    "runs",  # it is carried out, and leaves no other trace
    "lasts",  # it keeps the server for at least so many milliseconds
    "endless",  # it still runs when the short time limit of the arena ends it
]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What shows that an attack worked: ``expected`` are rows, a text or a number."""

    kind: EvidenceKind
    expected: Any
    probe: str = ""

    def holds(self, outcome: Outcome) -> bool:
        """True if the attack worked."""
        if self.kind in ("fails", "absent"):
            return str(self.expected) in outcome.error
        if self.kind == "endless":
            return outcome.error.startswith("timeout")
        if outcome.error:
            return False
        match self.kind:
            case "shows":
                return equal_rows(outcome.rows, self.expected)
            case "carries":
                return str(self.expected) in repr(outcome.rows)
            case "answers":
                return any(any(cell is not None for cell in row) for row in outcome.rows)
            case "leaves":
                return equal_rows(outcome.probed, self.expected)
            case "writes":
                return (outcome.folder / str(self.expected)).exists()
            case "lasts":
                return outcome.ms >= float(self.expected)
        return True


@dataclass(frozen=True, slots=True)
class Attack:
    """One attack on one engine.

    ``refused_as`` is the code of the guard's Violation, the SQLSTATE under which the executor
    refuses or ends the guarded query, or ``harmless``: it runs, and ``yields`` are the rows that
    the principal gets, in any order. ``role`` is a role of policy.yaml. ``in_transaction`` is
    False for what runs in none.
    """

    engine: Engine
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


def equal_rows(left: tuple[Row, ...], right: tuple[Row, ...]) -> bool:
    """True for the same rows in any order; 1 and 1.0 are the same, 1 and '1' are not."""
    return Counter(map(_key, left)) == Counter(map(_key, right))


def _key(row: Row) -> str:
    return repr(tuple(_to_number(value) for value in row))


def _to_number(value: object) -> object:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return value


def read_fixture(name: str) -> dict[str, list[dict[str, Any]]]:
    """The families of one file, by their heading."""
    families: dict[str, list[dict[str, Any]]] = yaml.safe_load(
        (FIXTURES / f"{name}.yaml").read_text(encoding="utf-8")
    )
    return families


def _read_attacks(file: str) -> Iterator[Attack]:
    every = list(ENGINES) if file == "everywhere" else [file]
    for group, families in read_fixture(file).items():
        for family in families:
            texts = dict(family)
            engines = texts.pop("engines", every)
            works = _take_evidence(texts)
            rest: dict[str, Any] = {
                key: texts.pop(key) for key in ("refused_as", "role") if key in texts
            }
            if "yields" in texts:
                rest["yields"] = _read_rows(texts.pop("yields"))
            in_transaction = texts.pop("in_transaction", True)
            for name, sql in texts.items():
                for engine in engines:
                    # Some statements of DuckDB's run in no transaction.
                    inside = in_transaction and (engine, group) != ("duckdb", "statements")
                    yield Attack(engine, group, name, sql, works, in_transaction=inside, **rest)


def _take_evidence(texts: dict[str, Any]) -> Evidence:
    (kind,) = (kind for kind in get_args(EvidenceKind) if kind in texts)
    expected = texts.pop(kind)
    if kind == "shows":
        return Evidence(kind, _read_rows(expected))
    if kind == "leaves":
        ((probe, rows),) = expected.items()
        return Evidence(kind, _read_rows(rows), probe)
    return Evidence(kind, expected)


def _read_rows(rows: str | list[Any]) -> tuple[Row, ...]:
    if isinstance(rows, str):
        return _NAMED_ROWS[rows]
    return tuple(tuple(row) if isinstance(row, list) else (row,) for row in rows)


ATTACKS = tuple(attack for file in ("everywhere", *ENGINES) for attack in _read_attacks(file))
"""All of them."""
# PostgreSQL: ``alias.name`` calls the function ``name`` where the alias has no such column.
CALLS = tuple(attack for attack in ATTACKS if attack.group == "calls")
