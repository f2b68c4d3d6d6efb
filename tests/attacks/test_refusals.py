"""Each text of ``fixtures/attacks/refusals.yaml``, refused by the guard of each database.

They are about the shop of ``tests/fixtures``, without a policy, so that nothing but the guard's own
rules can be why. What a principal's policy withholds is in the attacks beside it, each of which is
shown to work first.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from execution.guard.guard import SqlGuard
from nl2sql.catalog import Catalog
from nl2sql.types import Principal, Violation
from tests.attacks.attack import ENGINES, Engine, read_fixture
from tests.conftest import ROOT
from tests.execution.duckdb.shop import ExposedShop, open_exposed
from tests.execution.sqlite.shop import build_shop
from tests.fakes import SHOP, FakeCatalogs
from tests.serve_app.leaks import find_internals

# Refused, by whichever check is the first to notice.
ANY = "any code"
# With these codes a message says which name is meant.
_NAMING = ("function_not_allowed", "type_not_allowed", "unknown_table")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A text, and the codes of the engines that refuse it; elsewhere it is harmless.

    ``works`` says that DuckDB runs it if there is no guard.
    """

    name: str
    sql: str
    codes: Mapping[Engine, str]
    works: bool


def read_refusals() -> Iterator[Refusal]:
    """Those of the file: families under their code, in which an engine may have another, or none.

    Every other key of a family is the name of a text; ``{60 * x}`` in it is sixty times x.
    """
    for code, families in read_fixture("refusals").items():
        for family in families:
            texts = dict(family)
            codes = {engine: texts.pop(engine, code) for engine in ENGINES}
            codes = {engine: code for engine, code in codes.items() if code is not None}
            works = texts.pop("works", False)
            for name, sql in texts.items():
                full = re.sub(r"\{(\d+) \* ([^}]*)\}", lambda match: int(match[1]) * match[2], sql)
                yield Refusal(f"{code}-{name}", full, codes, works)


REFUSALS = tuple(read_refusals())


@dataclass(frozen=True, slots=True)
class Shops:
    """The shop under each engine."""

    catalogs: Mapping[Engine, Catalog]
    exposed: ExposedShop

    def aim(self, refusal: Refusal) -> str:
        """The text with its target put in."""
        return self.exposed.aim(refusal.sql)


@pytest.fixture(scope="module")
def shops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shops]:
    folder = tmp_path_factory.mktemp("shops")
    with open_exposed(folder) as exposed:
        sqlite = build_shop(folder / "shop.sqlite")
        yield Shops({"postgres": SHOP, "sqlite": sqlite, "duckdb": exposed.catalog}, exposed)


@pytest.mark.parametrize(
    ("engine", "refusal"),
    [
        pytest.param(engine, refusal, id=f"{engine}-{refusal.name}")
        for engine in ENGINES
        for refusal in REFUSALS
        if engine in refusal.codes
    ],
)
async def test_it_is_refused_for_its_own_reason(
    engine: Engine, refusal: Refusal, shops: Shops
) -> None:
    sql, catalogs = shops.aim(refusal), FakeCatalogs(shops.catalogs[engine])
    verdict = await SqlGuard(catalogs).guard("shop", sql, Principal("tester"))
    assert isinstance(verdict, Violation), verdict
    assert refusal.codes[engine] in (verdict.code, ANY), verdict
    if verdict.code in _NAMING:
        assert verdict.fragment
        assert verdict.fragment in verdict.message
    assert not [*find_internals(verdict.message, sql, [str(ROOT)])]


@pytest.mark.parametrize(
    "refusal", [refusal for refusal in REFUSALS if refusal.works], ids=lambda refusal: refusal.name
)
def test_duckdb_would_carry_it_out(refusal: Refusal, shops: Shops, tmp_path: Path) -> None:
    copy = Path(shutil.copy(shops.exposed.path, tmp_path))
    with duckdb.connect(copy) as connection:
        connection.execute(shops.exposed.aim(refusal.sql, copy, tmp_path)).fetchall()
