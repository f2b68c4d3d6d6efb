"""All that belongs to a principal, and who else bears its name: nothing is shown, used or ended.

A name alone is not a person: with other roles or other attributes it is somebody else. Whose right
to ask the database was taken away may still end what is theirs, and reads nothing of it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from nl2sql.types import Entitlement, Principal
from retrieval.examples.pairs import Pair
from retrieval.index_store.credentials import ApiKeyStore
from serve_app.composition.examples import add_examples
from serve_app.composition.wiring import Wiring
from serve_app.reporting import SilentReporter
from tests.serve_app.page_service import MEMBER, PageService, open_page_service

SECRET = "zacharias"
QUESTION = f"SELECT count(*) AS {SECRET} FROM employees"
ROLES = (*MEMBER, "clerk")
SAME = (("department_id", 31),)
NAMESAKES = {
    "other roles": Principal("cleo", ("regional_manager", "clerk"), (("region_ids", (1, 2)),)),
    "other attributes": Principal("cleo", ROLES, (("department_id", 7),)),
}
RIGHT_TAKEN = Principal("cleo", ROLES, SAME, Entitlement(databases=("second",)))
OWNER = Principal("cleo", ROLES, SAME)


class Keys:
    """The service, which everybody asks with a key of their own."""

    def __init__(self, service: PageService) -> None:
        self._service = service
        self._keys = ApiKeyStore(service.store)

    async def send(self, who: Principal, method: str, path: str, **body: object) -> httpx.Response:
        _, key = await self._keys.create(who, valid_days=1)
        headers = {"Authorization": f"Bearer {key}"}
        json = body or None
        return await self._service.send("", method, path, json=json, headers=headers)


@pytest.fixture
async def keys(wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Keys]:
    async with open_page_service(wiring, monkeypatch, api_keys=True) as service:
        yield Keys(service)


async def test_what_belongs_to_a_principal_belongs_to_no_namesake(keys: Keys) -> None:
    asked = await keys.send(OWNER, "POST", "/query", question=QUESTION, k=1, session="s")
    sql = asked.json()["sql"]
    feedback = {"question": QUESTION, "verdict": "wrong", "sql": sql}
    given = await keys.send(OWNER, "POST", "/feedback", **feedback)
    reads: list[tuple[str, str, dict[str, object]]] = [
        ("GET", "/conversations", {}),
        ("GET", "/conversations/s", {}),
    ]
    ends = [
        ("DELETE", "/conversations/s"),
        ("DELETE", "/conversations"),
        ("DELETE", f"/feedback/{given.json()['id']}"),
    ]
    faults = []
    for name, who in {**NAMESAKES, "right taken": RIGHT_TAKEN}.items():
        for method, path, body in reads:
            response = await keys.send(who, method, path, **body)
            if SECRET in response.text:
                faults.append(f"{name}: {method} {path}: {response.text}")
    for name, who in NAMESAKES.items():
        for method, path in ends:
            response = await keys.send(who, method, path)
            counts = response.json().values() if response.content else ()
            if (response.status_code != 404 and set(counts) - {0, "s"}) or not counts:
                faults.append(f"{name}: {method} {path}: {response.text}")
    assert not faults, "\n".join(faults)
    # It is all there still, for its owner, who can end it.
    for method, path, body in reads:
        response = await keys.send(OWNER, method, path, **body)
        assert response.is_success, (method, path, response.text)
    for method, path in ends[:2]:
        response = await keys.send(RIGHT_TAKEN, method, path)
        assert response.is_success or response.status_code == 404, (path, response.text)
    assert SECRET not in (await keys.send(OWNER, "GET", "/conversations")).text


HIDDEN_NAME = """
SELECT last_name FROM employees WHERE department_id NOT IN (31, 7)
EXCEPT SELECT last_name FROM employees WHERE department_id IN (31, 7) ORDER BY 1 LIMIT 1
"""


async def test_what_people_verify_reaches_nobody_with_other_rights(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a reviewer's question nor the default of an imported query."""
    async with open_page_service(wiring, monkeypatch) as service:
        ((name,),) = (await service.run("ada", HIDDEN_NAME)).json()["rows"]
        query = "SELECT count(*) FROM employees WHERE last_name = {}"
        given = {
            "question": f"How many employees are called {name}?",
            "sql": query.format(f"'{name}'"),
            "verdict": "right",
            "parameters": ["last_name"],
        }
        assert (await service.send("ada", "POST", "/feedback", json=given)).is_success
        wrong = {"question": f"Who is {name}?", "sql": given["sql"], "verdict": "wrong"}
        entry = (await service.send("ada", "POST", "/feedback", json=wrong)).json()["id"]
        pair = Pair.model_validate(
            {
                "question": "How many people have the surname :surname?",
                "phrasings": ["How many people have that surname?"],
                "sql": query.format(":surname"),
                "parameters": {
                    "surname": {"type": "text", "default": name, "column": "hr.employees.last_name"}
                },
            }
        )
        who = Principal("ops")
        report = await add_examples(wiring, "demo_erp", [pair], who, SilentReporter())
        assert report.left_out == ()
        ways: list[tuple[str, str, dict[str, object] | None]] = [
            ("GET", "/databases/demo_erp/suggestions", None),
            ("POST", "/query", {"question": "How many people have that surname?", "trace": True}),
            ("POST", "/query", {"question": "How many employees are called X?", "trace": True}),
            ("GET", "/feedback?verdict=right", None),
            ("GET", "/feedback", None),
            ("GET", f"/feedback/{entry}/exam", None),
            ("POST", f"/feedback/{entry}/trial", {}),
        ]
        told = {
            person: [
                name in (await service.send(person, method, path, json=body)).text
                for method, path, body in ways
            ]
            for person in ("ada", "mia", "noa", "cleo", "eve")
        }
        nothing = [False] * len(ways)
        # The exam leaves out the entry's own question, and no other was called right.
        assert told.pop("ada")[:5] == [True] * 5
        assert told == dict.fromkeys(told, nothing)
