"""Each attack through the interfaces: as MCP's ``run_sql``, and as a model's only candidate.

The databases, the policy and the attackers are those of ``test_attacks.py``; behind the interfaces
is the whole service, with an index of the databases. Its model writes the attack for any question.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from execution.postgres.embedded import EmbeddedServer
from serve_app.composition.wiring import Wiring
from tests.attacks.arenas import UNTOUCHED, Arena
from tests.attacks.attack import ATTACKS, ENGINES, FOLDER, HARMLESS, QUERY_CANCELED, Attack, Engine
from tests.attacks.guarded import POLICY, PRINCIPALS, WITHHELD
from tests.attacks.injections.injection import EMPLOYEES, Injection, ObeyingEngine
from tests.attacks.ways import MOST_ROWS, WAYS_TO_ROWS
from tests.conftest import ROOT
from tests.fakes import FakeEmbedder
from tests.oracle.grants import read_policy
from tests.serve_app.interfaces import (
    Interfaces,
    Reply,
    configure_engines,
    describe_principal,
    open_interfaces,
    sign_in,
)
from tests.serve_app.leaks import find_internals, hide_own_numbers

# One group is enough for `make test`: what the guard says of the others is the same for every way
# to it (test_attacks.py).
QUICK = ("postgres", "scopes")

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Target:
    """The service over the three databases; ``model`` writes what it is told to."""

    runner: asyncio.Runner
    interfaces: Interfaces
    model: ObeyingEngine
    folder: Path

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """The result, in the event loop that the service's parts belong to."""
        return self.runner.run(work)


@pytest.fixture(scope="session")
def target(
    arenas: Mapping[Engine, Arena], server: EmbeddedServer, folder: Path
) -> Iterator[Target]:
    home = folder / "service"
    home.mkdir()
    urls = {"postgres": f"embedded:{UNTOUCHED}"}
    for engine in ("sqlite", "duckdb"):
        urls[engine] = f"{engine}:///{shutil.copy(folder / f'pristine.{engine}', home)}"
    limits = {"pool_size": 2, "rows": MOST_ROWS, "statement_timeout_ms": 3000}
    settings = configure_engines(home, urls, read_policy(POLICY), limits=limits)
    described = {name: describe_principal(who) for name, who in PRINCIPALS.items()}
    model = ObeyingEngine()
    with asyncio.Runner() as runner, pytest.MonkeyPatch.context() as patch:
        wiring = Wiring(sign_in(settings, described, patch), server.socket_folder)
        stack = AsyncExitStack()
        opening = open_interfaces(wiring, model, embedder=FakeEmbedder(settings.index.embedder))
        interfaces = runner.run(stack.enter_async_context(opening))
        yield Target(runner, interfaces, model, folder)
        runner.run(stack.aclose())


@pytest.mark.parametrize("way", WAYS_TO_ROWS)
@pytest.mark.parametrize(
    ("engine", "group"),
    [
        pytest.param(engine, group, marks=[] if (engine, group) == QUICK else pytest.mark.long)
        for engine in ENGINES
        for group in dict.fromkeys(attack.group for attack in ATTACKS if attack.engine == engine)
    ],
)
def test_an_attack_gets_the_rows_of_the_policy_or_none(
    target: Target, engine: Engine, group: str, way: str
) -> None:
    attacks = [attack for attack in ATTACKS if (attack.engine, attack.group) == (engine, group)]

    async def attack_all() -> list[str]:
        faults = []
        for attack in attacks:
            sql = attack.sql.replace(FOLDER, str(target.folder))
            injection = Injection(
                attack.name, "question", EMPLOYEES, sql, attack.role, database=engine
            )
            target.model.obey(injection)
            reply = await WAYS_TO_ROWS[way](target.interfaces, injection)
            faults += [
                f"{attack.id}: {fault}\n  {sql[:300]}\n  {reply.text[:2000]}"
                for fault in find_faults(attack, sql, reply, is_run=way == "run_sql")
            ]
        return faults

    faults = target.run(attack_all())
    assert not faults, "\n".join([f"{len(faults)} faults", *faults])


def find_faults(attack: Attack, sql: str, reply: Reply, *, is_run: bool) -> Iterator[str]:
    """What the reply should not be; with ``is_run`` the attack itself was to be run."""
    if reply.status != 200:
        yield f"HTTP status {reply.status}"
    if reply.answered and (is_run or reply.sql.split() == sql.split()):
        if attack.yields is None:
            # Time limits, which are longer here, end the others.
            if attack.refused_as != QUERY_CANCELED:
                yield "it has rows"
        elif not reply.shows(attack.yields):
            yield f"it has other rows: {reply.rows}"
    elif is_run and attack.refused_as == HARMLESS:
        yield "it is refused"
    text = hide_own_numbers(reply.text)
    shown = f"{sql} {attack.yields}"
    if "auditor" in attack.role:
        # Of them only the names are withheld.
        shown += " 7770 6100 9900"
    yield from (f"{word} is told" for word in WITHHELD if word in text and word not in shown)
    yield from find_internals(text, sql, (tempfile.gettempdir(), str(ROOT)))
