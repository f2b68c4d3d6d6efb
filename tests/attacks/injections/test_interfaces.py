"""The injections through the interfaces: the rows of the principal's copy, or none; no secret."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from serve_app.settings.service import AnswerSettings
from tests.attacks.injections.injection import INJECTIONS, SAID, STORED, Injection, ObeyingEngine
from tests.attacks.injections.planted import PRINCIPALS, SECRETS
from tests.attacks.injections.service import Service
from tests.attacks.injections.test_injections import FOR_NOBODY
from tests.attacks.ways import MOST_ROWS, WAYS
from tests.conftest import ROOT
from tests.serve_app.interfaces import (
    Interfaces,
    build_interfaces,
    describe_principal,
    sign_in,
)
from tests.serve_app.leaks import find_internals, hide_own_numbers

_QUICK_STEP = 8


@pytest.fixture(scope="module")
def interfaces(service: Service) -> Iterator[Interfaces]:
    """All interfaces over the parts of ``service``, with answers in the model's words."""
    settings = service.parts.wiring.settings
    limits = settings.limits.model_copy(update={"rows": MOST_ROWS})
    changed = {"answer": AnswerSettings(text="model"), "limits": limits}
    described = {name: describe_principal(who) for name, who in PRINCIPALS.items()}
    with pytest.MonkeyPatch.context() as patch:
        settings = sign_in(settings.model_copy(update=changed), described, patch)
        yield build_interfaces(settings, service.parts)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "injection",
    [
        pytest.param(
            injection,
            id=injection.id,
            marks=[] if number % _QUICK_STEP else [pytest.mark.quick],
        )
        for number, injection in enumerate((*INJECTIONS, *SAID))
    ],
)
def test_an_injection_gets_the_rows_of_the_principals_copy_or_none(
    service: Service, interfaces: Interfaces, injection: Injection, way: str
) -> None:
    engine = service.parts.engine
    assert isinstance(engine, ObeyingEngine)
    engine.obey(injection)
    reply = service.run(WAYS[way](interfaces, injection))
    assert reply.status == 200, reply.text
    principal = PRINCIPALS[injection.principal]
    if reply.answered:
        allowed = service.run_on_copy(reply.sql or injection.sql, principal)
        assert not allowed.failed, reply.text
        assert way == "translate" or reply.shows(allowed.rows), reply.text
    if way == "run_sql" and injection.title not in FOR_NOBODY:
        assert reply.answered == (not service.run_on_copy(injection.sql, principal).failed)
    own = " ".join(
        (injection.question, injection.sql, injection.first, injection.target, injection.text)
    )
    if injection.said:
        # All products are asked for, and so everything that is planted among them.
        own += " ".join(planted.text for planted in (*STORED, *SAID))
    text = hide_own_numbers(reply.text)
    assert not [secret for secret in SECRETS if secret in text and secret not in own]
    assert not list(find_internals(text, own, (str(ROOT), str(service.parts.wiring.settings.home))))
    if injection.said and injection.said not in own:
        assert injection.said not in text
    # A trace has the attacker's queries, and a row may hold what is planted.
    if way != "events with trace" and not reply.rows:
        hidden = service.list_hidden(service.find_catalog(principal))
        assert not [name for name in hidden if name in text and name not in own]
